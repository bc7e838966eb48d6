// Package lint holds the rules of the house as tests: which package may import
// which, what may stand at package level, what must be documented, and that what
// the documents show is true. There is no code to import here.
//
// Each rule comes with a fixture in testdata: a small tree of files that breaks
// it, with the complaints that it must make.
package lint
