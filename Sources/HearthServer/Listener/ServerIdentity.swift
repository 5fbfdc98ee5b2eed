/// The certificate of a server and its key, as PEM texts.
package struct ServerIdentity: Sendable {
    let certificate: String
    let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
