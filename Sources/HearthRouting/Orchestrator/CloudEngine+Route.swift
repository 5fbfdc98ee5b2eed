extension CloudEngine: RemoteEngine {}
