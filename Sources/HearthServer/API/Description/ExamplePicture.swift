/// The picture of examples: a BMP file of one pixel.
enum ExamplePicture {
    static let base64 = "Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

    static let address = "data:image/bmp;base64,\(base64)"
}
