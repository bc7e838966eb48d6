package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gocloud.dev/blob"
)

// Options say what is uploaded, and where to.
type Options struct {
	// URL names the bucket, such as "s3://recordings?region=eu-central-1", "gs://recordings" or "azblob://recordings".
	// The program imports the driver for it.
	URL string
	// Bucket is the bucket, for those who open it themselves. It is theirs to close.
	Bucket *blob.Bucket
	// Folder is the folder of the recording: observe.Options.Folder.
	Folder string
	// Prefix is what the names of the objects in the bucket begin with, before the name of the file. A folder in it
	// ends in a slash.
	Prefix string
	// Keep keeps files in the folder after they were uploaded. The recorder removes them when there are too many.
	Keep bool
	// Timeout is how long one attempt to upload a file may take, a minute by default.
	Timeout time.Duration
	// Pause is how long nobody tries again after a file could not be uploaded, a second by default. It doubles each
	// time, up to a minute.
	Pause time.Duration
	// CloseWithin is how long the end may wait for what is still to be uploaded, ten seconds by default.
	CloseWithin time.Duration
	// Report is told when files cannot be uploaded, once until one can be again, and of files that are lost. It must
	// return soon.
	Report func(error)
}

// Uploads takes files to a bucket. Its methods may be called at any time by any goroutine.
type Uploads struct {
	options Options
	bucket  *blob.Bucket
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
	stop    context.CancelFunc
	close   sync.Once
	closed  error
	// hanging is closed when an attempt ends that was given up, nil if there is none. It is used by one goroutine.
	hanging chan struct{}

	mu sync.Mutex
	// waiting are the files that have ended, the earliest first.
	waiting  []string
	uploaded int
	lost     int
}

// longestPause is how long at most nobody tries.
const longestPause = time.Minute

// Start opens the bucket, and uploads until [Uploads.Close] what [Uploads.Ended] is told, and first what an earlier
// process left in the folder. It does not wait for the bucket: one that cannot be reached is reported when it is used.
// The error is for options that are wrong.
func Start(ctx context.Context, options Options) (*Uploads, error) {
	options.Timeout = cmp.Or(options.Timeout, time.Minute)
	options.Pause = cmp.Or(options.Pause, time.Second)
	options.CloseWithin = cmp.Or(options.CloseWithin, 10*time.Second)
	switch {
	case options.Folder == "":
		return nil, errors.New("set Options.Folder to the folder of the recording")
	case (options.URL == "") == (options.Bucket == nil):
		return nil, errors.New("set either Options.URL or Options.Bucket")
	case options.Timeout < 0 || options.Pause < 0 || options.CloseWithin < 0:
		return nil, errors.New("set Options.Timeout, Pause and CloseWithin to nothing negative")
	}
	bucket := options.Bucket
	if bucket == nil {
		var err error
		if bucket, err = blob.OpenBucket(ctx, options.URL); err != nil {
			return nil, fmt.Errorf("open the bucket: %w", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(escaped(options.Folder), "*.ort"))
	if err != nil {
		return nil, err
	}
	slices.Sort(left)
	under, stop := context.WithCancel(context.WithoutCancel(ctx))
	u := &Uploads{
		options: options, bucket: bucket, waiting: left,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), stop: stop,
	}
	go u.run(under)
	return u, nil
}

// escaped returns a name that a pattern takes as it is.
func escaped(name string) string {
	var out []rune
	for _, r := range name {
		if r == '*' || r == '?' || r == '[' || r == '\\' && filepath.Separator != '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// Ended takes a file of the folder that has ended: it is what observe.Options.Ended is to be. It does not wait.
func (u *Uploads) Ended(file string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Contains(u.waiting, file) {
		u.waiting = append(u.waiting, file)
	}
	select {
	case u.wake <- struct{}{}:
	default: // it is awake
	}
}

// Uploaded returns how many files are in the bucket.
func (u *Uploads) Uploaded() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.uploaded
}

// Lost returns how many files were removed before they were uploaded.
func (u *Uploads) Lost() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lost
}

// Close uploads what has ended, for ten seconds at most, and ends. The error says how many files stay in the folder,
// where the next process finds them.
func (u *Uploads) Close() error {
	u.close.Do(func() {
		close(u.closing)
		timeout := time.AfterFunc(u.options.CloseWithin, u.stop)
		<-u.done
		timeout.Stop()
		u.stop()
		u.mu.Lock()
		left := len(u.waiting)
		u.mu.Unlock()
		if left > 0 {
			u.closed = fmt.Errorf("%d files could not be uploaded, and stay in %s", left, u.options.Folder)
		}
		if u.options.Bucket == nil {
			u.closed = errors.Join(u.closed, u.bucket.Close())
		}
	})
	return u.closed
}

// first returns the file that is next, empty if none is.
func (u *Uploads) first() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 {
		return ""
	}
	return u.waiting[0]
}

// run uploads one file after the other, until the context ends, or until it is to end and nothing waits.
func (u *Uploads) run(ctx context.Context) {
	defer close(u.done)
	pause := time.Duration(0)
	closing := u.closing
	for {
		name := u.first()
		switch {
		case ctx.Err() != nil:
			return
		case name != "":
			if pause = u.next(ctx, name, pause); pause == 0 {
				continue
			}
		default:
			select {
			case <-u.closing:
				return
			default:
			}
		}
		wait := pause
		if name == "" {
			wait = longestPause
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-u.wake:
			if name != "" { // another file is no reason to believe that the bucket is back
				select {
				case <-ctx.Done():
				case <-timer.C:
				case <-closing:
				}
			}
		case <-closing:
			closing = nil // to try at once, and then after pauses again
		}
		timer.Stop()
	}
}

// next uploads a file. It returns how long nobody is to try again, 0 if it is done with this one.
func (u *Uploads) next(ctx context.Context, name string, pause time.Duration) time.Duration {
	gone, err := u.upload(ctx, name)
	if err != nil && !gone {
		if pause == 0 && ctx.Err() == nil {
			u.report(fmt.Errorf("%s cannot be uploaded, and waits: %w", name, err))
		}
		return min(max(2*pause, u.options.Pause), longestPause)
	}
	u.mu.Lock()
	u.waiting = slices.DeleteFunc(u.waiting, func(other string) bool { return other == name })
	if gone {
		u.lost++
	} else {
		u.uploaded++
	}
	u.mu.Unlock()
	switch {
	case gone:
		u.report(fmt.Errorf("%s was removed before it was uploaded: keep more files, or end fewer", name))
	case !u.options.Keep:
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.report(fmt.Errorf("%s is uploaded, and cannot be removed: %w", name, err))
		}
	}
	return 0
}

// upload uploads a file, unless it is gone. A driver that does not end when it should is left alone, and nothing else
// is begun until it has.
func (u *Uploads) upload(ctx context.Context, name string) (gone bool, err error) {
	if u.hanging != nil {
		select {
		case <-u.hanging:
			u.hanging = nil
		default:
			return false, errors.New("the driver of the bucket does not return from the last attempt")
		}
	}
	file, err := os.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), err
	}
	ctx, cancel := context.WithTimeout(ctx, u.options.Timeout)
	defer cancel()
	ended, result := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(ended)
		defer func() {
			if panicked := recover(); panicked != nil {
				result <- fmt.Errorf("the driver of the bucket panicked: %v", panicked)
			}
			_ = file.Close() // it was only read
		}()
		result <- u.bucket.Upload(ctx, u.options.Prefix+filepath.Base(name), file, &blob.WriterOptions{ContentType: "application/octet-stream"})
	}()
	select {
	case err = <-result:
		return false, err
	case <-ctx.Done():
	}
	const grace = time.Second // for drivers to clean up
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err = <-result:
		return false, err
	case <-late.C:
		u.hanging = ended
		return false, ctx.Err()
	}
}

// report tells the user.
func (u *Uploads) report(err error) {
	if u.options.Report != nil {
		defer func() { _ = recover() }() // it is not ours
		u.options.Report(err)
	}
}
