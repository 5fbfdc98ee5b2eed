extension Log.Field {
    /// A field with a path. Private, because a path can contain a user's name.
    package static func path(_ path: Path, name: String = "path") -> Self {
        Self(name, .text(path.string), isPrivate: true)
    }
}
