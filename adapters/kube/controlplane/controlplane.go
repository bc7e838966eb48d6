package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// readyWithin is how long a program may take to answer after its start.
const readyWithin = time.Minute

// token is what clients show to be let in.
const token = "orrery"

// ControlPlane is a running kube-apiserver with its etcd. Both listen on loopback
// only, on ports that were free, and keep their data in a temporary folder.
type ControlPlane struct {
	config *rest.Config
	etcd   string
	folder string
	// processes are in the order in which they were started.
	processes []*process
}

// Start runs the programs and returns when the API server is ready. The API server runs without the admission plugins of these
// names. The programs end
// with [ControlPlane.Stop], with the context, or (on Linux) with this process,
// whichever comes first. Their output goes to log files in a temporary folder, of which
// the ends are in the error if a program does not come up.
func Start(ctx context.Context, binaries Binaries, without ...string) (*ControlPlane, error) {
	folder, err := os.MkdirTemp("", "orrery-controlplane-")
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{folder: folder}
	if err := c.start(ctx, binaries, without); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Config returns how to reach the API server, with all rights and without limits on
// the rate of requests.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Etcd returns the URL of the store.
func (c *ControlPlane) Etcd() string { return c.etcd }

// Stop ends the programs and removes their data.
func (c *ControlPlane) Stop() error {
	for _, p := range slices.Backward(c.processes) {
		p.stop()
	}
	c.processes = nil
	return os.RemoveAll(c.folder)
}

func (c *ControlPlane) start(ctx context.Context, binaries Binaries, without []string) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	c.etcd = "http://" + address(ports[0])
	peers := "http://" + address(ports[1])
	err = c.run(ctx, binaries.Etcd, http.DefaultClient, c.etcd+"/health",
		"--data-dir="+filepath.Join(c.folder, "etcd"),
		"--listen-client-urls="+c.etcd,
		"--advertise-client-urls="+c.etcd,
		"--listen-peer-urls="+peers,
		"--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers,
		"--unsafe-no-fsync",
		"--log-level=error",
	)
	if err != nil {
		return err
	}
	key := filepath.Join(c.folder, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return err
	}
	tokens := filepath.Join(c.folder, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	c.config = &rest.Config{
		Host:        "https://" + address(ports[2]),
		BearerToken: token,
		// The server has made its certificate itself.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             -1,
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	return c.run(ctx, binaries.APIServer, client, c.config.Host+"/readyz",
		"--etcd-servers="+c.etcd,
		"--cert-dir="+filepath.Join(c.folder, "certificates"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", ports[2]),
		"--service-account-issuer=https://orrery.local",
		"--service-account-key-file="+key,
		"--service-account-signing-key-file="+key,
		"--token-auth-file="+tokens,
		"--authorization-mode=AlwaysAllow",
		"--service-cluster-ip-range=10.0.0.0/16",
		// The first gives Pods a service account, which a controller would have to create first.
		"--disable-admission-plugins="+strings.Join(append([]string{"ServiceAccount"}, without...), ","),
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--enable-priority-and-fairness=false",
	)
}

// run starts a program and waits until the URL answers.
func (c *ControlPlane) run(ctx context.Context, program string, client *http.Client, url string, arguments ...string) error {
	p, err := startProcess(program, filepath.Join(c.folder, filepath.Base(program)+".log"), arguments...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	context.AfterFunc(ctx, p.kill)

	waiting, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("it is not ready after %s", readyWithin))
	defer cancel()
	const pause = 50 * time.Millisecond
	for !answers(waiting, client, url) {
		var reason error
		select {
		case <-waiting.Done():
			reason = context.Cause(waiting)
		case <-p.ended:
			reason = errors.New("it has ended by itself")
		case <-time.After(pause):
			continue
		}
		if ctx.Err() != nil {
			// The program is ended with the context, so its own end says nothing.
			return fmt.Errorf("starting %s: %w", p.name, context.Cause(ctx))
		}
		return p.failed(reason)
	}
	return nil
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return err == nil && response.StatusCode == http.StatusOK
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// freePorts returns ports of the loopback interface that nobody listens on, all
// different. Nothing keeps others from taking them before they are used.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", address(0))
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }() // nothing was sent over it
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// writeKey writes a new key for signing the tokens of service accounts.
func writeKey(path string) error {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return err
	}
	block := pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(&block), 0o600)
}
