// Package bucket takes the files of a recording to a bucket: of Amazon S3, Google Cloud Storage, Azure Blob Storage, or
// whatever else gocloud.dev/blob has a driver for.
//
//	import _ "gocloud.dev/blob/s3blob" // the driver for the URL
//
//	uploads, err := bucket.Start(ctx, bucket.Options{URL: "s3://recordings?region=eu-central-1", Folder: folder})
//	if err != nil {
//		return err
//	}
//	defer uploads.Close() // when the manager has ended, and with it the last file
//	mgr = observe.Manager(mgr, observe.Options{Folder: folder, RotateEvery: time.Minute, Ended: uploads.Ended})
//
// The recording is written to the folder, as ever. A file that has ended is uploaded, and then removed. So a bucket
// that cannot be reached costs no reconcile and no memory: files wait in the folder until it can be, as many as
// observe.Options.Files says, across restarts too where the folder outlives the process. Files of which an earlier
// process was robbed of the end by a crash are uploaded by the next one. What waits too long is removed by the
// recorder; then the recording in the bucket misses a part, which orrery trace notes, and [Uploads.Lost] counts it. The
// process can lose what no file has yet: its last block.
//
// The folder must belong to one process at a time.
//
// The package is a module of its own: only who uses it depends on gocloud.dev.
package bucket
