import HearthCommand

HearthCommand.end(await HearthCommand.main())
