import HearthBase

/// The certificate of a server.
struct TLSFiles: ParameterGroup {
    @Option("tls-cert", "FILE", .absolutePath, "Serve with TLS: the certificate and its chain, as PEM.")
    var certificate: Path?
    @Option("tls-key", "FILE", .absolutePath, "The key of the certificate, as PEM.") var key: Path?

    /// Both files, where they are given.
    var files: (certificate: Path, key: Path)? {
        certificate.flatMap { certificate in key.map { (certificate, $0) } }
    }

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw UsageError("--tls-cert and --tls-key belong together", hint: "Give both.")
        }
    }
}
