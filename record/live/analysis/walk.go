package analysis

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orrery-dev/orrery/record/live"
)

// Place is where in recordings an entry stands.
type Place struct {
	// Header is that of the first file of the process that is read.
	Header live.Header
	// First tells that the entry is the first one of a process.
	First bool
	// Object is the number of the object by which the entries of its file refer to it, if the entry is one.
	Object int
}

// Walk hands out all entries of recordings, process by process, each in the order in which things happened. It returns
// what the recordings do not hold.
func Walk(sources []Source, visit func(Place, live.Entry) error) (Notes, error) {
	var last *process
	return read(sources, visitor{entry: func(p *process, e live.Entry) error {
		at := Place{Header: p.header, First: p != last}
		last = p
		if _, is := e.(live.Object); is {
			at.Object = len(p.objects)
		}
		return visit(at, e)
	}})
}

// Files returns the recordings with these names. A folder stands for those in it.
func Files(names ...string) ([]Source, error) {
	var all []Source
	for _, name := range names {
		files := []string{name}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			inside, err := os.ReadDir(name)
			if err != nil {
				return nil, err
			}
			files = nil
			for _, file := range inside {
				if filepath.Ext(file.Name()) == ".ort" {
					files = append(files, filepath.Join(name, file.Name()))
				}
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("there is no recording (*.ort) in %s", name)
			}
		} else if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: %w", name, errors.New("it may be read twice, so it has to be a file"))
		}
		for _, file := range files {
			all = append(all, Source{Name: file, Open: func() (io.ReadCloser, error) { return os.Open(file) }})
		}
	}
	return all, nil
}
