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

// folderPrefix is how the names of temporary folders begin, and lockName the file in each that is locked as long as it
// is used.
const (
	folderPrefix = "orrery-controlplane-"
	lockName     = "lock"
)

// ControlPlane is a running kube-apiserver with its etcd. Both listen on loopback only, on ports that were reserved for
// them, and keep their data in a temporary folder of their user. The API server lets in who shows a token that was made
// for it, etcd only the API server.
type ControlPlane struct {
	config *rest.Config
	folder string
	lock   *os.File
	ports  ports
	// processes are in the order in which they were started.
	processes []*process
}

// Start runs the programs and returns when the API server is ready. The API server runs without the admission plugins
// of these names. The programs end with [ControlPlane.Stop], with the context, or (on Linux) with this process,
// whichever comes first. Their output goes to log files in a temporary folder, of which the ends are in the error if a
// program does not come up. What a process that was killed has left is removed.
func Start(ctx context.Context, binaries Binaries, without ...string) (*ControlPlane, error) {
	return start(ctx, binaries, "", without)
}

// StartAudited is [Start] with an API server that keeps an audit log in a file, of all resources with what was sent and
// answered.
func StartAudited(ctx context.Context, binaries Binaries, auditLog string) (*ControlPlane, error) {
	return start(ctx, binaries, auditLog, nil)
}

func start(ctx context.Context, binaries Binaries, auditLog string, without []string) (*ControlPlane, error) {
	sweep()
	folder, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{folder: folder}
	if c.lock, err = hold(folder); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.start(ctx, binaries, auditLog, without); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Config returns how to reach the API server, with all rights and without limits on
// the rate of requests.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Stop ends the programs and removes their data.
func (c *ControlPlane) Stop() error {
	for _, p := range slices.Backward(c.processes) {
		p.stop()
	}
	c.processes = nil
	c.ports.release()
	err := os.RemoveAll(c.folder)
	if c.lock != nil {
		c.lock.Close()
	}
	return err
}

func (c *ControlPlane) start(ctx context.Context, binaries Binaries, auditLog string, without []string) error {
	authority, err := newAuthority(c.folder)
	if err != nil {
		return err
	}
	store, err := c.startEtcd(ctx, binaries.Etcd, authority)
	if err != nil {
		return err
	}
	audit, err := c.audit(auditLog)
	if err != nil {
		return err
	}
	return c.startAPIServer(ctx, binaries.APIServer, authority, store, without, audit)
}

// startEtcd starts etcd, and returns its URL.
func (c *ControlPlane) startEtcd(ctx context.Context, program string, authority *authority) (string, error) {
	files, err := authority.issue(etcdName)
	if err != nil {
		return "", err
	}
	var urls []string
	for range 2 {
		port, err := c.ports.reserve()
		if err != nil {
			return "", err
		}
		urls = append(urls, "https://"+address(port))
	}
	clients, peers := urls[0], urls[1]
	client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{
		CAData: authority.text(), CertFile: files.certificate, KeyFile: files.key,
	}})
	if err != nil {
		return "", err
	}
	return clients, c.run(ctx, program, client, clients+"/health",
		"--data-dir="+filepath.Join(c.folder, "etcd"),
		"--listen-client-urls="+clients,
		"--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers,
		"--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers,
		"--client-cert-auth", "--trusted-ca-file="+authority.file(), "--cert-file="+files.certificate, "--key-file="+files.key,
		"--peer-client-cert-auth", "--peer-trusted-ca-file="+authority.file(), "--peer-cert-file="+files.certificate, "--peer-key-file="+files.key,
		"--socket-reuse-port",
		"--unsafe-no-fsync",
		"--log-level=error",
	)
}

// auditPolicy has all requests for resources logged when they are answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: RequestResponse
`

// audit returns the flags of the API server that have it keep an audit log, none if no file is named.
func (c *ControlPlane) audit(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	policy := filepath.Join(c.folder, "audit-policy.yaml")
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + file}, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

// startAPIServer starts the API server over a store, with more flags.
func (c *ControlPlane) startAPIServer(ctx context.Context, program string, authority *authority, store string, without, more []string) error {
	files, err := authority.issue(apiServerName)
	if err != nil {
		return err
	}
	port, err := c.ports.reserve()
	if err != nil {
		return err
	}
	key := filepath.Join(c.folder, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return err
	}
	tokens := filepath.Join(c.folder, "tokens.csv")
	token := rand.Text()
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	c.config = &rest.Config{
		Host:            "https://" + address(port),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: authority.text()},
		QPS:             -1,
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	return c.run(ctx, program, client, c.config.Host+"/readyz", append(more,
		"--etcd-servers="+store,
		"--etcd-cafile="+authority.file(), "--etcd-certfile="+files.certificate, "--etcd-keyfile="+files.key,
		"--tls-cert-file="+files.certificate, "--tls-private-key-file="+files.key,
		"--cert-dir="+filepath.Join(c.folder, "certificates"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--permit-port-sharing",
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
	)...)
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
