#if canImport(Darwin)
    import AppleFoundation
    import UniformTypeIdentifiers

    extension View {
        // developer.apple.com/documentation/swiftui/view/fileimporter(ispresented:allowedcontenttypes:oncompletion:)
        public func fileImporter(
            isPresented: Binding<Bool>, allowedContentTypes: [UTType], onCompletion: @escaping (Result<URL, any Error>) -> Void
        ) -> some View { unchanged() }
    }
#endif
