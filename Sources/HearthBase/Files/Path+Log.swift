extension Log.Field {
    /// A path. Private, because it can contain a user's name.
    package static func path(_ path: Path, name: String = "path") -> Self {
        Self(name, .text(path.string), isPrivate: true)
    }
}
