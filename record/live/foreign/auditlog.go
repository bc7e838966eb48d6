package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// auditEvent is an Event of audit.k8s.io/v1, as far as it is needed.
type auditEvent struct {
	APIVersion       string    `json:"apiVersion"`
	Kind             string    `json:"kind"`
	Level            string    `json:"level"`
	AuditID          string    `json:"auditID"`
	Stage            string    `json:"stage"`
	RequestURI       string    `json:"requestURI"`
	Verb             string    `json:"verb"`
	User             auditUser `json:"user"`
	ImpersonatedUser auditUser `json:"impersonatedUser"`
	UserAgent        string    `json:"userAgent"`
	ObjectRef        *struct {
		Resource, Namespace, Name, APIGroup, APIVersion, Subresource string
	} `json:"objectRef"`
	ResponseStatus *struct {
		Code    int    `json:"code"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	RequestObject  json.RawMessage `json:"requestObject"`
	ResponseObject json.RawMessage `json:"responseObject"`
	Received       time.Time       `json:"requestReceivedTimestamp"`
	Staged         time.Time       `json:"stageTimestamp"`
}

type auditUser struct {
	Username string `json:"username"`
}

// lineLimit is how long a line of an audit log may be: events with objects can be long, and the API server bounds
// those.
const lineLimit = 32 << 20

// auditLog reads the events of a file.
type auditLog struct {
	name    string
	file    io.ReadCloser
	lines   *bufio.Reader
	list    []auditEvent // of a list that is being gone through
	events  int
	skipped int
	failed  error
}

func openAudit(file File) (*auditLog, error) {
	in, err := file.Open()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	if magic, _ := lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		plain, err := gzip.NewReader(lines)
		if err != nil {
			_ = in.Close() // it was only read
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		lines = bufio.NewReaderSize(plain, 64<<10)
	}
	return &auditLog{name: file.Name, file: in, lines: lines}, nil
}

// close returns what went wrong with reading.
func (l *auditLog) close() error { return errors.Join(l.failed, l.file.Close()) }

// next returns the next event, nil at the end or after an error. What is none is counted.
func (l *auditLog) next() *auditEvent {
	for {
		if len(l.list) > 0 {
			event := &l.list[0]
			l.list = l.list[1:]
			l.events++
			return event
		}
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 {
			events, ok := eventsOf(line)
			if !ok {
				l.skipped++
			}
			l.list = events
		}
		if err != nil && len(l.list) == 0 {
			switch {
			case errors.Is(err, io.ErrUnexpectedEOF):
				l.failed = fmt.Errorf("%s is compressed, and cut off (%w): give what gzip -dc unpacks of it", l.name, err)
			case !errors.Is(err, io.EOF):
				l.failed = fmt.Errorf("%s: %w", l.name, err)
			}
			return nil
		}
	}
}

// line returns the next line, without one that is too long.
func (l *auditLog) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.lines.ReadSlice('\n')
		if len(line)+len(part) <= lineLimit {
			line = append(line, part...)
		} else {
			line = append(line[:0], '?') // to be counted
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// eventsOf returns the events of a text: one, or those of a list.
func eventsOf(text []byte) ([]auditEvent, bool) {
	var list struct {
		auditEvent
		Items []auditEvent `json:"items"`
	}
	if json.Unmarshal(text, &list) != nil || list.APIVersion != "audit.k8s.io/v1" {
		return nil, false
	}
	switch list.Kind {
	case "Event":
		return []auditEvent{list.auditEvent}, true
	case "EventList":
		return list.Items, true
	}
	return nil, false
}
