package iotrace

import "time"

// Still keeps what Go's runtime does for itself out of counts, until the function that it returns is called. The
// runtime waits for timers where it waits for the network, and whoever sets one that fires before all others wakes it
// by writing to itself, which is counted. While timers fire all the time, a later one wakes nobody.
func Still() (end func()) {
	const often = 10 * time.Millisecond
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(often)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
