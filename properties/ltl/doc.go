// Package ltl checks linear temporal logic on the stored state graph of a search.
//
// A [Claim] is a formula with the meaning of its atoms; it becomes a property of a
// system. It holds if the formula is true of every fair run from the start. Runs are
// infinite: where no fair step is possible, a run may stay for ever.
//
// A formula is built from atoms, which are names or texts in quotes, and from
//
//	!p  p && q  p || q  p -> q  p <-> q     not, and, or, implies, iff
//	X p                                     next: p in the next state
//	F p, <> p                               eventually: p now or later
//	G p, [] p                               always: p now and ever after
//	p U q                                   until: q at some time, p before
//	p W q                                   unless: p until q, or p for ever
//	p R q                                   releases: q up to and with p, or q for ever
//	p M q                                   as R, and p at some time
//	stable p                                F G p
//	p leads to q                            G (p -> F q)
//
// The words are other spellings of the symbols, and bind as these do: prefix operators
// bind tightest, then U, W, R and M, then &&, ||, ->, <->, and last "leads to". U, W, R, M
// and -> group to the right.
//
// Four forms of formula have names, and words of their own in findings, whoever asks for them and however:
// [Eventually], [InfinitelyOften], [EventuallyAlways] and [LeadsTo] are each a [Pattern].
//
// How a claim is checked: the negated formula is translated to a generalised Büchi
// automaton (a tableau built as far as it is reached, after Couvreur, FM 1999, made smaller by
// direct simulation, after Etessami and Holzmann, CONCUR 2000), and the strongly connected components
// of its product with the graph are searched for one in which a fair run can stay.
// Fairness is judged on the edges of a component. What is found is told as a lasso, a
// shortest stem with a short cycle, and is walked and evaluated again by the definition of the
// logic before it is reported.
package ltl
