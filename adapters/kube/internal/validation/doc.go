// Package validation says what is wrong with objects, in the words of a real API server.
//
// [Create] and [Update] are its doors. They check the metadata of all kinds, the schemas of custom
// resources, and the fields of Kubernetes' own kinds: what an update cannot change, the spec, and
// the status where it is written. Most of what a real server wants of those fields is a table
// (package fieldrules); the files here, one for each group of kinds, have what a table cannot
// say, such as that one field goes with another.
//
// Which steps a kind goes through, and in what order, differs as it does on a real server: it
// shows in the causes of a refusal. Some are told twice, as they are there.
package validation
