// Package upstream measures the simulated API server with the rules of a real one, field by
// field. It has nothing but tests:
//
//	go test ./upstream -run TestFields -fields . -timeout 1h -v
package upstream
