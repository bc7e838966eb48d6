// Package canonical brings objects and outcomes into forms that can be compared: what the server
// chose or counted does not tell them apart.
//
// A [Form] is for the kinds of a registry. It returns what of an object matters in an outcome
// ([Form.Outcome]), brings outcomes to a form that does not depend on generated names and uids
// ([Form.CanonicalOutcome]), counts generations anew ([Form.Settle]), and exchanges names with all
// that is made of them ([Form.Rename]). What a value means is known from its place in the schema of
// its kind (places.go, listings.go), never from a name that a user chose.
package canonical
