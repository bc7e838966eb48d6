// Package cputime tells what a process has computed, which depends less than a clock does on what else a machine is
// doing.
package cputime
