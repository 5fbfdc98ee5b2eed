import HearthBase

/// How a page is cut.
package struct PageOptions: Sendable, Hashable {
    package var direction: ReadingDirection
    /// The largest angle in degrees by which a page is straightened, 0...15.
    package var maximumDegrees: Double

    /// By default, the direction is found, and a page is turned by at most 7 degrees.
    package init(direction: ReadingDirection = .automatic, maximumDegrees: Double = 7) {
        self.direction = direction
        self.maximumDegrees = min(15, max(0, maximumDegrees))
    }
}

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
    /// - Parameter margin: the white margin around a character, as a share of its side: 0...0.5.
    /// - Throws: `cannot-read-picture` for a page of specks; `classification-failed`; `CancellationError`.
    package static func cut(
        _ picture: Picture, margin: Double = 0.1, options: PageOptions = PageOptions()
    ) async throws -> CutPage {
        try await StopFlag.blocking { flag in
            let (page, degrees) = try picture.cleaned(maximumDegrees: options.maximumDegrees)
            try flag.check()
            let layout = PageLayout(ink: try page.ink(leastSide: 2), direction: options.direction, margin: margin)
            let pictures = try layout.cells.map { cell in
                try flag.check()
                return try page.part(x: cell.box.x, y: cell.box.y, width: cell.box.width, height: cell.box.height)
            }
            return CutPage(
                cells: layout.cells, pictures: pictures, page: page, degrees: degrees, direction: layout.direction)
        }
    }
}
