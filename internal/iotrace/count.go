package iotrace

import (
	"bytes"
	"os"
	"strconv"
)

// Count is how much a process has read, written and sent so far. Counts are compared with ==.
type Count struct {
	known bool
	// calls are system calls that read and write, and sent is what the host has sent to begin conversations:
	// connections and single packets.
	calls, sent uint64
}

// Known reports whether the operating system counts.
func (c Count) Known() bool { return c.known }

// Now returns the count of this process. That it is read counts, too: always the same.
func Now() Count {
	own, ok := readOnce("/proc/self/io")
	if !ok {
		return Count{}
	}
	host, ok := readOnce("/proc/self/net/snmp")
	if !ok {
		return Count{}
	}
	c := Count{known: true}
	for _, name := range []string{"syscr: ", "syscw: "} {
		c.calls += numberBehind(own, name)
	}
	c.sent = column(host, "Tcp: ", "ActiveOpens") + column(host, "Udp: ", "OutDatagrams")
	return c
}

// Since returns how much more a count is than an earlier one, without what it took to count. It is 0 only where nothing
// was read, written or sent.
func (c Count) Since(before Count) uint64 {
	const itself = 2 // files are read to count
	return c.calls - before.calls - min(itself, c.calls-before.calls) + c.sent - before.sent
}

// readOnce reads a file of the kernel by one system call, which is enough for what is small.
func readOnce(name string) ([]byte, bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text := make([]byte, os.Getpagesize())
	n, err := f.Read(text)
	return text[:n], err == nil
}

// numberBehind returns the number behind a name, 0 if there is none.
func numberBehind(text []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseUint(string(line), 10, 64)
	return n
}

// column returns the number in a column of a table of two lines, which begin with the same word.
func column(text []byte, table, name string) uint64 {
	var lines [][][]byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(table)) {
			lines = append(lines, bytes.Fields(line))
		}
	}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return 0
	}
	for i, of := range lines[0] {
		if string(of) == name {
			n, _ := strconv.ParseUint(string(lines[1][i]), 10, 64)
			return n
		}
	}
	return 0
}
