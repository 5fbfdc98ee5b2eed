import Foundation

/// A grey page of square characters for models of ``ONNXBuilder``: each is a frame of 40 pixels with one dark quadrant, which
/// is its class.
package struct QuadrantPage {
    package private(set) var width: Int
    package private(set) var height: Int
    package private(set) var pixels: [UInt8]
    /// The classes in reading order.
    package private(set) var classes: [Int] = []

    /// A page without characters.
    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = [UInt8](repeating: 245, count: width * height)
    }

    /// Columns from the right, each from top to bottom.
    package init(columns: Int, rows: Int) {
        self.init(width: columns * 80 + 90, height: rows * 50 + 130)
        for column in 0..<columns {
            for row in 0..<rows {
                let kind = (column * 7 + row * 5) % 4
                classes.append(kind)
                draw(kind, x: width - 100 - column * 80, y: 60 + row * 50)
            }
        }
    }

    /// The page, turned clockwise by so many degrees; with shade, its right side is half as bright as its left one.
    package func worn(degrees: Double, shade: Bool) -> QuadrantPage {
        var result = self
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let (middleX, middleY) = (Double(width) / 2, Double(height) / 2)
        for y in 0..<height {
            for x in 0..<width {
                let (dx, dy) = (Double(x) - middleX, Double(y) - middleY)
                let fromX = Int((dx * cosine + dy * sine + middleX).rounded())
                let fromY = Int((-dx * sine + dy * cosine + middleY).rounded())
                let isInside = (0..<width).contains(fromX) && (0..<height).contains(fromY)
                let value = Double(isInside ? pixels[fromY * width + fromX] : 245)
                result.pixels[y * width + x] = UInt8(shade ? value * (1 - 0.5 * Double(x) / Double(width)) : value)
            }
        }
        return result
    }

    private mutating func draw(_ kind: Int, x: Int, y: Int) {
        fill(x, y, 40, 2)
        fill(x, y + 38, 40, 2)
        fill(x, y, 2, 40)
        fill(x + 38, y, 2, 40)
        fill(x + kind % 2 * 20, y + kind / 2 * 20, 20, 20)
    }

    private mutating func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
        for row in y..<y + height { for column in x..<x + width { pixels[row * self.width + column] = 20 } }
    }
}
