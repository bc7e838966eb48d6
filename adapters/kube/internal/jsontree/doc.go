// Package jsontree handles JSON values as trees: maps, slices and scalars, as in unstructured
// objects.
//
// [Canonical] writes a tree as text, and equal trees as equal texts; [Same] compares without
// writing, and [Copy] is what somebody else reads from the text. [Decode] reads as API servers
// do. Most texts are plain: all readers take them in the same way. They are read by a short
// reader ([IsPlain] and [PlainYAML] tell them); all others are left to the libraries, which find
// what is wrong and the words for it. [At], [ListAt], [Without] and [Set] reach fields by their
// paths. [Of] and [Into] go from typed objects to trees and back.
package jsontree
