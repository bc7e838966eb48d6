// Package storage is what the API server keeps in the store of a system: versions of objects, and
// records of its own.
//
// An [Object] is one version of an object, which never changes. It knows how clients see it, with
// a resource version that names its content.
//
// Whatever a real server takes from a counter, a clock or at random is a function of names and of
// what is in the store, so that a system can come back to a state: [NewUID], [GeneratedName], the
// addresses and ports that an [Allocator] finds, and [Now]. The records ([RecordWrites]) say which
// uids are referred to and which addresses and ports are taken. So a request need not read all
// objects.
package storage
