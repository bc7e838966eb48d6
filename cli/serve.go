package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/record"
)

func (s *session) serveCommand() *cobra.Command {
	address := defaultAddress
	command := &cobra.Command{
		Use:   "serve FILE",
		Short: "Show a record in a browser: its report, its states, and steps beyond it",
		Long: `Serve shows a record to browsers on this machine: the report as a page, the states
and where each can still end, a search by object, field and controller, and, if the
system is compiled in, a run with the code of its controllers of which you choose the
steps. It ends with Ctrl-C.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.serve(command.Context(), args[0], address)
		},
	}
	command.Flags().Var(&flagValue[string]{to: &address, parse: loopback, text: defaultAddress, kind: "HOST:PORT"}, "addr", "serve at HOST:PORT, which is of this machine only; port 0 takes any that is free")
	return command
}

// defaultAddress is where records are served.
const defaultAddress = "localhost:8733"

// loopback takes an address that cannot be reached from elsewhere.
func loopback(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("use a host and a port, such as %s", defaultAddress)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", errors.New("a record is served to this machine only: use localhost, 127.0.0.1 or [::1]")
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("there is no port %q", port)
	}
	return text, nil
}

// serve serves a record until the context ends.
func (s *session) serve(ctx context.Context, path, address string) error {
	r, err := readRecord(ctx, path)
	if err != nil {
		return err
	}
	simulator, without := s.simulator(ctx, r)
	handler, err := page.NewServer(ctx, r, simulator, without)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --addr, such as localhost:0", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
	fmt.Fprintf(s.streams.Out, "Serving %s at http://%s/ (Ctrl-C ends it)\n", path, listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	if err := server.Shutdown(closing); err != nil {
		return server.Close() // a page that is still being made is not waited for
	}
	return nil
}

// simulator returns what takes steps of the recorded system, nil if it cannot be built: then a sentence says why.
func (s *session) simulator(ctx context.Context, r *record.Record) (simulator page.Simulator, without string) {
	system, err := s.rebuild(ctx, r.Header)
	if err != nil {
		return nil, fmt.Sprintf("There is no going on step by step: %v.", err)
	}
	if simulator, err = s.Engine.Simulate(system, &r.Report, orrery.Options{Logger: s.logger, Guard: s.guard}); err != nil {
		return nil, fmt.Sprintf("There is no going on step by step: %v.", err)
	}
	return simulator, ""
}
