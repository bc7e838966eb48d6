package kube

// get answers with one object. A status has the same answer as its object.
func (op *operation) get() (*Response, error) {
	object := op.find(op.key(op.request.Name))
	if object == nil {
		return nil, op.notFound()
	}
	return op.show(object, object.Version), nil
}
