package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/record/atomicfile"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

func (s *session) traceImport() *cobra.Command {
	command := &cobra.Command{
		Use:   "import",
		Short: "Make recordings of what others have recorded",
		Long:  `Import makes a recording that orrery trace can be asked about of audit logs of an API server, or of a trace of SimKube.`,
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("say what to import: audit or simkube (see orrery trace import --help)")
			}
			return unknown("format", args[0], verbs(command), "orrery trace import --help")
		},
	}
	command.AddCommand(s.traceImportAudit(), s.traceImportSimKube())
	return command
}

// importing are the flags that all imports have.
type importing struct {
	out         string
	keepSecrets bool
}

func (i *importing) add(command *cobra.Command) {
	command.Flags().StringVar(&i.out, "out", "", "write the recording to this file, which ends in .ort")
	command.Flags().BoolVar(&i.keepSecrets, "keep-secrets", false, "keep the values of Secrets and tokens, which are replaced by digests otherwise")
}

// options returns the options, or says that there is no file to write.
func (i *importing) options() (foreign.Options, error) {
	if !strings.HasSuffix(i.out, ".ort") {
		return foreign.Options{}, errors.New("name the recording that is to be written, with the ending .ort: --out FILE.ort")
	}
	return foreign.Options{Name: strings.TrimSuffix(filepath.Base(i.out), ".ort"), KeepSecrets: i.keepSecrets}, nil
}

// whole writes a recording that appears once it is complete.
func (i *importing) whole(write func(io.Writer) error) error {
	file, err := atomicfile.Create(i.out)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return err
	}
	return file.Commit()
}

func (s *session) traceImportAudit() *cobra.Command {
	var flags importing
	listen := ""
	command := &cobra.Command{
		Use:   "audit FILE... --out FILE.ort",
		Short: "Make a recording of audit logs of an API server",
		Long: `Audit makes a recording of audit logs (audit.k8s.io/v1, a JSON event a line, plain or compressed by gzip), of one or several API servers. The answers are as good
as the log: at level RequestResponse versions and their values are known, at level Request what was sent, and at level Metadata only who called what. What a cache
answered, and what woke a controller, is in no audit log.

With --listen, it receives events as an audit webhook, until it is interrupted. The address is on this machine unless it names another host. There is no encryption and no
authentication: whoever can reach it can write into the recording.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			options, err := flags.options()
			switch {
			case err != nil:
				return err
			case (len(args) == 0) == (listen == ""):
				return fmt.Errorf("%s takes audit logs, or --listen and none", command.CommandPath())
			case listen != "":
				return s.receive(command.Context(), listen, flags.out, options)
			}
			var files []foreign.File
			for _, name := range args {
				files = append(files, foreign.File{Name: name, Open: func() (io.ReadCloser, error) {
					file, err := os.Open(name)
					if err != nil {
						return nil, err
					}
					return interruptibleFile{interruptibleReader{command.Context(), file}, file, file}, nil
				}})
			}
			return flags.whole(func(out io.Writer) error { return foreign.Audit(files, out, options) })
		},
	}
	flags.add(command)
	command.Flags().StringVar(&listen, "listen", "", "receive events as an audit webhook at this address, such as :9099")
	return command
}

func (s *session) traceImportSimKube() *cobra.Command {
	var flags importing
	command := &cobra.Command{
		Use:   "simkube FILE --out FILE.ort",
		Short: "Make a recording of a trace of SimKube",
		Long:  `Simkube makes a recording of a trace that the tracer of SimKube 2 has exported (.sktrace): objects as they were applied and deleted.`,
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			options, err := flags.options()
			if err != nil {
				return err
			}
			if len(args) != 1 {
				return fmt.Errorf("%s takes one trace", command.CommandPath())
			}
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }() // it was only read
			return flags.whole(func(out io.Writer) error {
				if err := foreign.SimKube(interruptibleReader{command.Context(), file}, out, options); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return nil
			})
		},
	}
	flags.add(command)
	return command
}

// receive records what an API server sends, until the context ends.
func (s *session) receive(ctx context.Context, address, out string, options foreign.Options) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen: %w: name a port, such as :9099", err)
	}
	if host == "" {
		host = "localhost"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	receiver, err := foreign.NewReceiver(file, options)
	if err != nil {
		return errors.Join(err, listener.Close(), file.Close())
	}
	const patience = 30 * time.Second
	server := &http.Server{Handler: receiver, ReadHeaderTimeout: patience, ReadTimeout: 2 * patience}
	fmt.Fprintf(s.streams.Err, "Receiving audit events at http://%s, until interrupted.\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = server.Shutdown(within)
	case err = <-ended:
	}
	err = errors.Join(err, receiver.Close(), file.Close())
	fmt.Fprintf(s.streams.Err, "%d events were received.\n", receiver.Events())
	return err
}
