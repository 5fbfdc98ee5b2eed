import HearthCommand

// A worker is confined before anything else runs.
if let status = HearthCommand.serveWorker() { HearthCommand.end(status) }
HearthCommand.end(await HearthCommand.main())
