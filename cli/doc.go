// Package cli is the orrery command, for any set of systems. A binary that checks
// its own systems gets all verbs with one call:
//
//	func main() {
//		cli.Main(catalog.Entry{Name: "widgets", Doc: "...", Build: widgets})
//	}
//
// Verbs, flags, exit codes and JSON fields are a contract that scripts may rely on.
package cli
