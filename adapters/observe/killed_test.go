package observe_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// toBeKilled names the folder of the recording to the process that is to be killed.
const toBeKilled = "OBSERVE_TO_BE_KILLED"

// firstHalf is how many reconciles there are before the process waits.
const firstHalf = 200

// reconcilesForever records reconciles, and prints how many there were. After the first half it waits for a line.
func reconcilesForever(folder string) error {
	recorder := observe.NewRecorder(observe.Options{Folder: folder, FlushEvery: 20 * time.Millisecond})
	queue := observe.Queue(recorder, "counting", workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()))
	handler := recorder.Handler("counting", scheme.Scheme, toolscache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		key, _ := toolscache.MetaNamespaceKeyFunc(o)
		queue.Add(key)
	}})
	for i := 0; ; i++ {
		if i == firstHalf {
			if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
				return err
			}
		}
		cm := configMap(fmt.Sprintf("cm-%d", i))
		cm.ResourceVersion = fmt.Sprint(i + 1)
		handler.OnAdd(cm, false)
		request, _ := queue.Get()
		queue.Done(request)
		if _, err := fmt.Println(i + 1); err != nil {
			return err
		}
	}
}

// TestKilled kills a process (kill -9) while it records. All that it had written can be read, up to the last whole
// block, and nothing in between is missing.
func TestKilled(t *testing.T) {
	if folder := os.Getenv(toBeKilled); folder != "" {
		t.Fatal(reconcilesForever(folder))
	}
	folder := t.TempDir()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	process.Env = append(os.Environ(), toBeKilled+"="+folder)
	in, inErr := process.StdinPipe()
	out, outErr := process.StdoutPipe()
	if err := errors.Join(inErr, outErr, process.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	tells := func(count int) {
		for lines.Scan() {
			if lines.Text() == fmt.Sprint(count) {
				return
			}
		}
		t.Fatalf("the process ended before reconcile %d: %v", count, lines.Err())
	}
	recorded := func() []live.Entry {
		names, err := filepath.Glob(filepath.Join(folder, "*.ort"))
		if err != nil || len(names) != 1 {
			return nil
		}
		text, err := os.ReadFile(names[0])
		if err != nil {
			return nil
		}
		r, err := live.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil // its header is not whole yet
		}
		r.Close()
		entries, _ := wholeBlocks(t, text)
		return entries
	}
	tells(firstHalf)
	eventually(t, "the first half is written", func() bool { return len(the[live.Done](recorded())) == firstHalf })
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	tells(firstHalf + 50)
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed

	entries := recorded()
	begins, ends := the[live.Begin](entries), the[live.Done](entries)
	if len(ends) < firstHalf || len(the[live.Gap](entries)) > 0 || len(the[live.End](entries)) > 0 {
		t.Errorf("%d reconciles, %+v, %+v", len(ends), the[live.Gap](entries), the[live.End](entries))
	}
	for i, begin := range begins {
		if begin.Request != fmt.Sprintf("default/cm-%d", i) || len(begin.Causes) != 1 {
			t.Errorf("reconcile %d is %+v", i, begin)
		}
	}
	last := uint64(0)
	for _, entry := range entries {
		if done, is := entry.(live.Done); is {
			if done.N != last+4 { // the event, what it queued, the beginning and the end
				t.Errorf("entry %d follows %d", done.N, last)
			}
			last = done.N
		}
	}
}
