import Foundation

/// Small pictures as files: by default a red field of 40 × 30 pixels with a blue square and a yellow disc.
package enum TestPictures {
    /// Baseline JPEG.
    package static let jpeg = decoded(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4
        x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAe
        ACgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy
        JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT
        lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA
        AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom
        JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc
        bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDOZgoyab5q+hol+6PrUNdWFwtOrT5pbnVisVUpVOWOxOrhjgZp
        1aGiaekqtcTpuXOEB6H1Pv8A/rrcMaNH5ZRSnTaRx+VeTjK1OjWdOCvY1o4mTgnJanJ0Vf1WyW2kV4lIjbjGc4P+f60UoSU1dHdGSkroznUsMC
        o/Kb1FTUV2UsVUpR5Y7HPVwtOrLmlubuhyhrLyv4oic+4Jzn+f5Vo1ykUskLh4nKt6irh1i6Me0bAf7wXn/CvKr0JVKjmupDwzWkdi1rkw2Rwf
        xE7z7Dp/j+VFY7uzsWdizHqScmiuinDkjynVCPJGx//Z
        """)

    /// JPEG in several scans.
    package static let progressiveJPEG = decoded(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4
        x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wgARCAAe
        ACgDASIAAhEBAxEB/8QAGQAAAgMBAAAAAAAAAAAAAAAAAAQBAgMF/8QAFwEBAQEBAAAAAAAAAAAAAAAAAwEEAv/aAAwDAQACEAMQAAABWgoq6S
        w9k65JuR163GN5nk7ZZqJiL//EAB4QAAICAgIDAAAAAAAAAAAAAAABAxECEBITICEi/9oACAEBAAEFAi/B6hjsr1LhxZRA/gne02juyo//xAAb
        EQACAwADAAAAAAAAAAAAAAABAgADERMhUf/aAAgBAwEBPwG21lbBEsOdwHY1SsdM4/IBgn//xAAZEQADAQEBAAAAAAAAAAAAAAAAAQIRAxL/2g
        AIAQIBAT8B5cpqdZ2uYvyhPSetSsRcOq0lYsP/xAAcEAABBAMBAAAAAAAAAAAAAAAQAAERIRIgMVH/2gAIAQEABj8C3ydQq4Y8DMaP/8QAHBAB
        AAICAwEAAAAAAAAAAAAAAQARECExQVFx/9oACAEBAAE/IVqUg3nhggjZ1KOgryACNoly0s9MNPbzlG1TOFr7UVW1tn//2gAMAwEAAgADAAAAEP
        ATw7PP/8QAGREBAQADAQAAAAAAAAAAAAAAAQARIUEx/9oACAEDAQE/EOCJRRuAZLsiWa8Wqv/EABgRAQADAQAAAAAAAAAAAAAAAAEAEUEQ/9oA
        CAECAQE/ENERAN1CNkyRHB3jP//EACIQAQACAAYBBQAAAAAAAAAAAAEAERAhMVFhkdFxscHw8f/aAAgBAQABPxABbOJgqi8dL1wzsZRdHd5/Y2
        htNjLqOmMirun78xhROYg7tb5Fu/frAN6b8GnnrEy/cIpRV2ZvEdKTVW2f/9k=
        """)

    /// JPEG of one component.
    package static let greyJPEG = decoded(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4
        x9lnN+gXz/wAALCAAeACgBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIh
        MUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhI
        WGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AM5m
        CjJpvmr6GlVwxwM06imS/dH1qGtnRNPSVWuJ03LnCA9D6n3/AP11uGNGj8sopTptI4/KsLVbJbaRXiUiNuMZzg/5/rWc6lhgVH5Teoro9DlDWX
        lfxRE59wTnP8/yrRrK1yYbI4P4id59h0/x/KsainxSyQuHicq3qKuHWLox7RsB/vBef8Kou7OxZ2LMepJya//Z
        """)

    /// PNG of three colours.
    package static let png = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAAlUlEQVR42mM8oaHBMBCAiWGAwKjFdAMsaHwfkS0k6d/yxmc0qMkLakqAxpZvyN
        wbPlw0txjNSmRBXNaz0MJKYqynKI7vLHAi231DMFUT712snh5qPibVu5ieHq2dRi3GAVQS9pGhC7n8YqFW/Uq/oMZf+RBUPzQTF/GexlRJabUI
        MRFP5Uir+hiP9fRogZCR3EZeyQUAyTwuVsnm4GUAAAAASUVORK5CYII=
        """)

    /// PNG with a palette of two bits.
    package static let palettePNG = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAACgAAAAeAgMAAAAjs7ROAAAACVBMVEXw3B4UPNzIKCgUhnwZAAAAaklEQVR4nJXQsQ3CQBBE0efVBYjcPVAGTZ
        C7lC2FGFGEq0D0QAME6CDgcHKB8UZfXzPSaIeL34X/sXjMjMe17G2igJqLvTM1nHl2tTdqZ1+QW0bGdymyGE/qdbGB6GvJruGBc8PIPcPaoz6n
        gREq8qc7hgAAAABJRU5ErkJggg==
        """)

    /// PNG of 16 bits.
    package static let greyPNG = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAACgAAAAeEAAAAAArJt9CAAAAlklEQVR4nGOMiGCgKmCirnEj0kAWBPPVK/xKxcSIMXBIeZlYUFICY/X0UGwgwj
        AYD91QRkROIRQpXV24ZJANJToMcRuH6u6BimV87mNgQHbjwLiQkPsYGBBuHPw5ZZgYWFZGWA0styDlZeLKO0KASC9jK1ewyw9cpOBzI7IcI2kV
        PWp5iM0iEg1ENRSbq8kwED8Y/DkFABioHxyWeW2yAAAAAElFTkSuQmCC
        """)

    /// PNG with transparency.
    package static let alphaPNG = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAYAAABe3VzdAAAAwklEQVR4nGM8oaHxn2EQA6aBdgAhMOpASsGgdyALNkEfkS0UGbrljQ9F+pHBoA
        /BQe9ArFFMbaCx5RuG2A0fLqL00tSB2ByGLkfIoTRxID6H4VKLy6FUT4N3FjiRpQ+XpwZ9JqGqA8kNPRjAFoojJwQpDT0YQA/FkROCtAKjDqQU
        UM2BKgn7qGIOeo2CtaqjZnuOUkDVKCa2hUKK/pGTBmGA3FDEpY8mzS2YZcQ0uwakPYhu+aBtUcMAJZln5GUSagMAZoovVbKyaggAAAAASUVORK
        5CYII=
        """)

    /// BMP of 12 × 10 pixels.
    package static let bmp = decoded(
        """
        Qk2eAQAAAAAAADYAAAAoAAAADAAAAAoAAAABABgAAAAAAGgBAADEDgAAxA4AAAAAAAAAAAAAKCjIKCjIKCjIKCjIKCjIKCjIKCHHKCzJJzbLKC
        LHKCbHKCjIKCjIJyjJJijKJijKJijKJiXJJVrTILbnH87tIozeJzTLKCbIJyjJLynBNiq6NSm7Nia6MkHCHtbvHuLxHt7xHunzIo7fKCDGICfQ
        ejF21jsazzsh1jQZc42NF+T4HtzwHtzwHt7wHs3sJzrMHyfRgjJu5j0K3jwS5jUJbJyWFeT6HtzwHtzwHt3wHtbuJkLOHyfRgTJv5D0M3DwU4T
        cNrGRMHeHyHd7xHtzwHubyIajlKCXIHyfRgTJv5D0M3DwU3DsT3jwTTJO1Gdr1HuXyIMHqJk7RKCPHHyfRhDJs6z4F4z0N4z0N6j0GYimNIEzX
        JWPVJzHKKCPHKCjIJSjLRSurZi+KYy+NYy+NZS+LOiq2JiPJKCHHKCbIKCjIKCjIKCjIJCjMICfQISfPISfPISfPJijKKCjIKCjIKCjIKCjIKC
        jI
        """)

    /// BMP of one bit.
    package static let oneBitBMP = decoded(
        """
        Qk0uAQAAAAAAAD4AAAAoAAAAKAAAAB4AAAABAAEAAAAAAPAAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wBJJJJKqQAAAJJJJKhCAAAAJJJJAp
        QAAABJJJJ8SQAAAJJJKddSAAAAJJJHfoUAAABKLK/36AAAAJFBCr2lAAAAJSq/7/AAAABIRBt7dQAAAJUIv9/YAAAAIFE19XoAAABJAj9f6QAA
        AJRUbft6AAAAIoC/b9gAAABIJRv+9QAAAJVIPdeyAAAAIBFPfegAAABKog33ZQAAAJAEV73IAAAAIqiF71IAAABIAip9JQAAAJSUQJJIAAAAIi
        EVJJIAAABIhEJJJQAAAJJJJJJIAAAAJJJJJJIAAABJJJJJJQAAAJJJJJJIAAAAJJJJJJIAAAA=
        """)

    /// All pictures by name.
    package static let all: [(name: String, bytes: [UInt8])] = [
        ("jpeg", jpeg),
        ("progressiveJPEG", progressiveJPEG),
        ("greyJPEG", greyJPEG),
        ("png", png),
        ("palettePNG", palettePNG),
        ("greyPNG", greyPNG),
        ("alphaPNG", alphaPNG),
        ("bmp", bmp),
        ("oneBitBMP", oneBitBMP),
    ]

    /// A PNG of one colour and any size.
    package static func png(width: Int, height: Int, red: UInt8 = 255, green: UInt8 = 0, blue: UInt8 = 0) -> [UInt8] {
        let line: [UInt8] = [0] + Array(repeatElement([red, green, blue], count: width).joined())
        return png(width: width, height: height, unpacked: Array(repeatElement(line, count: height).joined()))
    }

    /// A PNG whose data may differ from its header.
    package static func png(width: Int, height: Int, unpacked: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = [0x78, 0x01]
        var place = 0
        repeat {
            let count = min(65535, unpacked.count - place)
            let isLast: UInt8 = place + count == unpacked.count ? 1 : 0
            let length = UInt16(count)
            packed.append(isLast)
            for half in [length, ~length] { packed += [UInt8(half & 255), UInt8(half >> 8)] }
            packed += unpacked[place..<place + count]
            place += count
        } while place < unpacked.count
        return png(width: width, height: height, packed: packed + [0, 0, 0, 0])
    }

    /// A PNG with data that is compressed already.
    package static func png(width: Int, height: Int, packed: [UInt8], depth: UInt8 = 8, colour: UInt8 = 2) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = number(width) + number(height) + [depth, colour, 0, 0, 0]
        return signature + chunk("IHDR", header) + chunk("IDAT", packed) + chunk("IEND", [])
    }

    /// Readers of pictures ignore the checksums.
    private static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count) + Array(kind.utf8) + content + [0, 0, 0, 0]
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func decoded(_ text: String) -> [UInt8] {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { [UInt8]($0) } ?? []
    }
}
