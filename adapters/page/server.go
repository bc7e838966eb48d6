package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

// Simulator takes steps of the checked system, as orrery.Simulation does.
type Simulator interface {
	// Run takes steps from the initial state of a number, and returns where they lead.
	Run(ctx context.Context, initial int, steps []core.Step) (*core.Position, error)
}

// Server serves a record to browsers on the same machine: its report, the graph of its states, and steps beyond it. It
// implements [http.Handler].
//
// It answers to names of this machine only, and to pages of its own only where controllers run, so that no other page
// can read or use it. Nothing of an object is ever run.
type Server struct {
	record    *record.Record
	simulator Simulator
	// without says why there is no simulator.
	without string
	routes  *http.ServeMux
	pages   *template.Template

	// read is closed when the graph is read, which begins at once. Then failed is why it is not.
	read   chan struct{}
	graph  *graph.Graph
	failed error
}

// NewServer returns a server of a record, which must not change any more. Without a simulator, a sentence says why
// there is none. The context ends the reading of the graph.
func NewServer(ctx context.Context, r *record.Record, simulator Simulator, without string) (*Server, error) {
	pages, err := template.ParseFS(assets, "assets/head.html", "assets/page.html", "assets/states.html")
	if err != nil {
		return nil, err
	}
	s := &Server{
		record: r, simulator: simulator, without: without, pages: pages, routes: http.NewServeMux(), read: make(chan struct{}),
	}
	s.routes.HandleFunc("GET /{$}", s.report)
	s.routes.HandleFunc("GET /page.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "assets/page.css") })
	s.routes.HandleFunc("GET /states", s.states)
	s.routes.HandleFunc("GET /states/{id}", s.state)
	s.routes.HandleFunc("GET /walk", s.walk)
	go func() {
		defer close(s.read)
		s.graph, s.failed = graph.New(ctx, r)
	}()
	return s, nil
}

// policy lets pages of states have the style, and nothing else.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	switch {
	case !local(r.Host):
		// Who gives a name of their own to this machine would read what is served through it.
		http.Error(w, "this is served to this machine only: use localhost", http.StatusForbidden)
	case foreign(r):
		http.Error(w, "this is not served to pages from elsewhere", http.StatusForbidden)
	default:
		s.routes.ServeHTTP(w, r)
	}
}

// local reports whether a host, which may have a port, is a name of this machine.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// foreign reports whether a page from elsewhere makes the request, or leads to anything but the first page.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" && (r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate")
}

// report serves the report of the check.
func (s *Server) report(w http.ResponseWriter, _ *http.Request) {
	var page bytes.Buffer
	if err := write(&page, &s.record.Report, true); err != nil {
		s.wrong(w, http.StatusInternalServerError, err)
		return
	}
	s.answer(w, page.Bytes())
}

// answer sends a page.
func (s *Server) answer(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A client that is gone needs no answer.
	_, _ = w.Write(page)
}

// show sends a page that is made from a template. Such pages have no scripts.
func (s *Server) show(w http.ResponseWriter, name string, view any) {
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name, view); err != nil {
		s.wrong(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	s.answer(w, page.Bytes())
}

// wrong says in a page what is wrong.
func (s *Server) wrong(w http.ResponseWriter, status int, err error) {
	var page bytes.Buffer
	title := "Not possible"
	if status == http.StatusNotFound {
		title = "Not found"
	}
	if s.pages.ExecuteTemplate(&page, "wrong", message{s.head(title), story.Clean(err.Error())}) != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// message is a page that says what is wrong.
type message struct {
	head
	Text string
}

// loaded waits for the graph of the states. If there is none, it says so in a page.
func (s *Server) loaded(w http.ResponseWriter, r *http.Request) bool {
	select {
	case <-s.read:
	case <-r.Context().Done():
		return false
	}
	switch {
	case s.failed != nil:
		s.wrong(w, http.StatusServiceUnavailable, fmt.Errorf("the states are not read: %w", s.failed))
		return false
	case s.graph.Len() == 0:
		s.wrong(w, http.StatusNotFound, errors.New("the record holds no states"))
		return false
	}
	return true
}

// stateNumber returns the number of a state in a text.
func (s *Server) stateNumber(text string) (core.StateID, error) {
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of a state", text)
	}
	if number >= uint64(s.graph.Len()) {
		if number < uint64(s.record.Extent.States) {
			return 0, fmt.Errorf("state %d is not recorded: %s; orrery check --record-states records more", number, s.record.Extent.Note)
		}
		return 0, fmt.Errorf("there is no state %d: the last one is state %d", number, s.graph.Len()-1)
	}
	return core.StateID(number), nil
}
