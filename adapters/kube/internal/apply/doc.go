// Package apply merges what is applied into objects, and records who manages which fields.
//
// [Managers] are the views of the real server's own library on a kind: they know everything, and
// cost much. Most applies are plain: nothing is removed and nobody else manages what changes. They
// are merged here ([Plain.Merge]), with the same outcome and the same record; for any other there
// is none, and the library is asked. merging.go merges values and collects the sets of fields that
// the record is written with.
package apply
