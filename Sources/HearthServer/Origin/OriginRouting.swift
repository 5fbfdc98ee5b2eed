#if Server
    import HearthBase

    /// Decides what a model origin answers. A value: it opens nothing and sends nothing.
    ///
    /// Two questions: may this request touch the folder at all (``admit(method:target:)``), and what is sent of the file
    /// that was found (``reply(method:headers:target:facts:)``).
    public struct OriginRouting: Sendable, Hashable {
        /// Extensions of model files: clients may keep them forever, because a release's bytes never change.
        public static let immutableExtensions: Set<String> = [
            "gguf", "index", "safetensors", "onnx", "mlmodel", "mlpackage", "zip", "bin", "npz",
        ]

        /// The routing every origin uses.
        public init() {}

        /// The verdict on a request line.
        public enum Admission: Sendable, Hashable {
            case open(RequestTarget)
            case refuse(Refusal)
        }

        /// The reasons to answer without a file.
        public enum Refusal: Sendable, Hashable {
            case badTarget, notFound, methodNotAllowed, forbidden, busy, failed

            /// The HTTP status.
            public var status: Int {
                switch self {
                case .badTarget: 400
                case .forbidden: 403
                case .notFound: 404
                case .methodNotAllowed: 405
                case .failed: 500
                case .busy: 503
                }
            }
        }

        /// The header of a reply, and the part of the file that follows it.
        public struct Decision: Sendable, Hashable {
            public var status: Int
            public var headers: HeaderFields
            /// The bytes that `Content-Length` counts; `nil` for none. For a `304` and for `HEAD`, only the length is sent.
            public var content: Content?

            /// Which bytes follow the header.
            public enum Content: Sendable, Hashable {
                case whole
                case part(ByteRange)
            }
        }

        /// Looks at the request line.
        public func admit(method: String, target: String) -> Admission {
            guard method == "GET" || method == "HEAD" else { return .refuse(.methodNotAllowed) }
            do {
                return .open(try RequestTarget(target))
            } catch {
                return .refuse(error == .malformed ? .badTarget : .notFound)
            }
        }

        /// Decides about a file that was found, in the order of RFC 9110, section 13.2.2.
        public func reply(method: String, headers: HeaderFields, target: RequestTarget, facts: FileFacts) -> Decision {
            let modified = HTTPDate(secondsSince1970: facts.modified).text
            let kind = target.components.last?.name ?? ""
            var fields: HeaderFields = [
                "ETag": facts.entityTag,
                "Last-Modified": modified,
                "Accept-Ranges": "bytes",
                "Cache-Control": Self.cacheControl(for: kind),
                "X-Content-Type-Options": "nosniff",
            ]
            if let wanted = headers["If-Match"],
                !EntityTagList.contains(facts.entityTag, in: wanted, weakly: false)
            {
                return Decision(status: 412, headers: fields, content: nil)
            }
            if let known = headers["If-None-Match"] {
                if EntityTagList.contains(facts.entityTag, in: known, weakly: true) {
                    return Decision(status: 304, headers: fields, content: .whole)
                }
            } else if headers["If-Modified-Since"]?.trimmed == modified {
                // Only the very date this server gave: a clock that was set back must not hide a change.
                return Decision(status: 304, headers: fields, content: .whole)
            }
            fields.append("Content-Type", Self.contentType(of: kind))
            switch rangeRequest(method: method, headers: headers, facts: facts) {
            case .whole:
                return Decision(status: 200, headers: fields, content: .whole)
            case .part(let range):
                fields.append("Content-Range", "bytes \(range.first)-\(range.last)/\(facts.size)")
                return Decision(status: 206, headers: fields, content: .part(range))
            case .unsatisfiable:
                fields.append("Content-Range", "bytes */\(facts.size)")
                return Decision(status: 416, headers: fields, content: nil)
            }
        }

        /// The range, if the request asks for one that counts: `GET` only, and with `If-Range` only for the same bytes.
        private func rangeRequest(method: String, headers: HeaderFields, facts: FileFacts) -> RangeRequest {
            guard method == "GET" else { return .whole }
            // A date says too little about bytes, so only the entity tag makes the condition true.
            if let condition = headers["If-Range"], condition.trimmed != facts.entityTag { return .whole }
            return RangeRequest(headers["Range"], size: facts.size)
        }

        static func cacheControl(for name: String) -> String {
            if immutableExtensions.contains(fileExtension(of: name)) { return "public, max-age=31536000, immutable" }
            return "no-cache, no-store"
        }

        static func contentType(of name: String) -> String {
            switch fileExtension(of: name) {
            case "json": "application/json"
            case "txt", "md", "minisig", "pub": "text/plain; charset=utf-8"
            case "zip": "application/zip"
            default: "application/octet-stream"
            }
        }

        private static func fileExtension(of name: String) -> String {
            guard let point = name.lastIndex(of: "."), point != name.startIndex else { return "" }
            return name[name.index(after: point)...].lowercased()
        }
    }
#endif
