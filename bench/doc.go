// Package bench measures searches: how fast they are, how much memory they take, and how
// little of a system a reduced search needs, beside SPIN and Rumur where they are installed.
//
// Every search is a process of its own, started with a command that anybody can type, so
// that no search profits or suffers from the one before it. The machine is never idle in
// all of a benchmark; so what is to be compared is run in turn, and compared within a turn.
package bench
