import HearthBase

/// A page that is cut into characters.
public struct CutPage: Sendable {
    /// The cells in reading order, in pixels of the page.
    package let cells: [PageCell]
    /// The pictures of the cells: grey, dark ink on white.
    package let pictures: [Picture]
    /// The page as it was cut: grey with even light, straightened.
    public let page: Picture
    /// By how many degrees the page was turned counter-clockwise.
    public let degrees: Double
    /// The direction that was found or asked for.
    package let direction: ReadingDirection

    /// Cuts a page. Without ink, there are no cells.
    /// - Parameters:
    ///   - margin: the white margin around a character, as a share of its side: 0...0.5.
    ///   - direction: by default, it is found.
    /// - Throws: `cannot-read-picture` for a page of specks; `classification-failed`; `CancellationError`.
    package static func cut(
        _ picture: Picture, margin: Double = 0.1, direction: ReadingDirection = .automatic
    ) async throws -> CutPage {
        try await StopFlag.blocking { flag in
            let (page, degrees) = try picture.cleaned()
            try flag.check()
            let layout = PageLayout(ink: try page.ink(leastSide: 2), direction: direction, margin: margin)
            let pictures = try layout.cells.map { cell in
                try flag.check()
                return try page.part(x: cell.box.x, y: cell.box.y, width: cell.box.width, height: cell.box.height)
            }
            return CutPage(
                cells: layout.cells, pictures: pictures, page: page, degrees: degrees, direction: layout.direction)
        }
    }
}
