import Foundation
import Testing

@testable import HearthBase

/// Keys and signatures that OpenSSL's command made over the text `message`.
private enum Vectors {
    static let message = Data("message".utf8)
    static let p256 = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWUqPjHZffI9Cvf1/rqGjl9A8tLFa
        32K1h+UP5TOPtzci/P7lAd6lNf0oey32JPZAD0tUAuq6UkJWpD05bCxYEQ==
        -----END PUBLIC KEY-----
        """
    static let p384 = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEJHwm/ILL38Ts1NaCkI+M23HTGyHla5ug
        Bc7Us0PisKeHTALveOrzQHF/70SK2+fLueYVwkwbaS1UXWQZfbTJ0fwnBAuHhUyH
        q0N7wJUDq8nepg9q/+VQiX89KoFrmUzY
        -----END PUBLIC KEY-----
        """
    static let k1 = """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEqG6WxCFQfgr/QdRKnCiZzp7x6Fzu+pr0
        hNdJhYnEM8P/feCbShxmrsWYIfutahOULpbD8zcZWMYJ1N5x+YT44w==
        -----END PUBLIC KEY-----
        """
    static let rsa = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArD2cHblcp9KSVHvqj9ow
        LzVTCY7EK1KKZXM3IaHM4N+0xWBV7oF8B/84AHwUZXiKTR+eUIjNyqpYcfDub1V3
        FDljLgvx5p2cNGLBkDJSFvOWGmmGJJpEiyXzt04mwIZ4zBiFk0aCOE4to3C1aeu9
        Apr5P0SVawLBxyf5w3/OzG7t8xyvFSRzlF4jWShX+47KPPoZCeRWDvlsEZzUUPOs
        AbqtNao37lrru/Km47eQIv4tBzUI2bkjfRAsly4G6zh9leS8cprRfUchX9yO7sy7
        ZG2OFGHyBN/EUaQStuBpMiNBaD3xsrhJ0vsgOAzeNe3+LxOlSPs0LmrctFD9Jtp1
        nQIDAQAB
        -----END PUBLIC KEY-----
        """
    static let shortRSA = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC4AZ4LSPiRIRtMuYhrIoNpuMLa
        nJq9dSkf+47jWe6FxxH/Dy2y/Ti/3C0WfFOw3Si2TyzL6k+CuXMzf5HwNDQCaTTU
        NsAxcxyc9IDNXkDAgvd8vm6IrAj012lEoYuKgOOchTJfEJxmBqqatO9Cd/0jZ0Zg
        lzPAIhYQSIm46qAz4QIDAQAB
        -----END PUBLIC KEY-----
        """
    static let p256Signature =
        "304502202342dc8ad8adbc38859a2d1670b88ce3e32dabe571a9f44b37748b71be053edb0221009dd48dd0feb31c7a31"
        + "950e61a0d664dabdc11cead4761577bbb5483ab7663514"
    static let p384Signature =
        "3065023100e2e60f2f149599289ed0c8593809e1b7c9845c2c9aca96c4e765b6a6ff77d4d373f348198d5940e1f382aa"
        + "6870a09ab702304607545086b928f33c7b3ee58119c1039537b066c2eb8d4cf82372808e1d4aec05e3b5f8a18dd361cb"
        + "debcf2368d2483"
    static let shortSalt =
        "aaa14fe7aa1bc5ae741f7490f05816ca3785ded461bf33ce571fc27b07babaae64bc9146b8a024cf4f167be7adf723aa"
        + "80a5efe9be1ac6c803f7b6ee8d72389e12b69b3ff59f592c457bb41488d7b2f5539408bff89dea2f71904a8b9a2a6cf7"
        + "cec61e0684abfb117bccb017c6342c627217138dba85ed4e1fc4f2a5f033e1da581d391f0a4843d496cb3d0018e61d83"
        + "a899cb515d9b4a041ef763527dce7a7eef3d4d7fdecf89b7001be63e0ef0ce958f9d18f748b53fa6c4ce9ef0f8b9e8d4"
        + "f053ddddcc7c949c2a91f0c11bb034ad04908e06e4b71c9bb582518740f3994fc942fb56721a4f43f5d2c8d6f753ddf3"
        + "686c3c26e3fef69f4fe1c70225ff1ccb"
    static let longSalt =
        "8390b4b531345c06ded37eb4dd9fe88a0e4324b422bc7e8dc1562bd0f0771148c35bfa049173f998c4f9cd8d35a1cf63"
        + "76fa3c4f0a9a3a66485654993956a135fec858a8f367e7a5e8f304df6e355c86c583b1c052400f4404d7f1ae7840ad1a"
        + "5e0d5ab2e9af9043a35cd3608556f023ea21f8fe6d76a8bb924fbaa6a524b7735f0f7ae4134a101f098e710df50eefbf"
        + "965c52e6f18c7d690d5658d55cb4dd2abd215dc88ccb82c44e1a9c37a2b8ba71e6b261bd947f2def73fb0c8639a9cb62"
        + "b17f359482f1e2c983da8713805bdb8ea157b0eefc830110eca12517296934150669d42ae8109de29e6608ba5b7cbb19"
        + "b6ac13f7e6f76f3b46634c8368d2181d"
    static let oldPadding =
        "07357f98c7b9ba94a3bfc35a2b5f89f18faf164376da038fdf789a5586b330e80aef5f75bc6669df49afd09e9beb1fea"
        + "6e959890e8e882de9bdf8d00c1f3ce5bb56bb82c3d88a73271d6431e78808d7f8f9e4a08cea86aa68c20aabc92d94ace"
        + "9380c468a6d6bc7dd6767c5e3801f4741a21d331525609f4c1f4ee81be821e6bcc694510176a7572e2eb725f9e276fe9"
        + "03bd2686406953a05f9e1442482fee6cc1f5dde10cb8524beb5246edd90d681c4d266771421be3b40fb9ebbf0fcf893d"
        + "4a0bb08b72b0a10b255adb430d28d91bffbc0f75522daec5b0e71f9514462da19bf888dad8fe5a6466260f9db3bb6ec8"
        + "96611067bdaa7a444a1cef70a0790291"
    static let rsa512 =
        "6069ab85208866a1107b7b5ba859dce983d6e2d0e1335197754e4123b42f4afd0f1053fa2666e96b9169fac7826d94d3"
        + "1c2e278aec32da9ba740e7689a6c8b2aa25007e5445267ce9b2014c6347b9128f44b3580e6cdeaf4e51b9adb39ba376b"
        + "9b512ffcf523b394be3b0f7e52f49f052cd94172cb584fee84c230ba07f01a381dec5a110903f7d261585e737c64277a"
        + "6752739b48a780a527737d3c14dffae8a6cae2da63becf35fb80f60cefa70c11cb210d2c28d3dfeb46f60b9b2c1cf372"
        + "2e520dbd228525f3c9120bb529f1c71ad9defbb01fe836f61c9c9211be3ccb7f24a5513c400cbf6a944406959ee243c3"
        + "3eacd52d6656e2088298cdd5f575cea4"
}

@Suite(.timeLimit(.minutes(10))) struct SignatureTests {
    /// RFC 8032, section 7.1, tests 1 to 3: seed, public key, message, signature.
    private static let ed25519: [(String, String, String, String)] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                + "d25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                + "387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                + "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    @Test(arguments: ed25519.indices) func signsLikeThePublishedVectors(_ index: Int) throws {
        let (seed, publicKey, message, signature) = Self.ed25519[index]
        let key = try #require([UInt8](hexadecimal: seed).flatMap { Ed25519Key(seed: $0) })
        let bytes = try #require([UInt8](hexadecimal: message))
        #expect(key.publicBytes.hexadecimal == publicKey)
        #expect(key.sign(bytes).hexadecimal == signature)
        let verifying = try #require(VerifyingKey(.ed25519, text: publicKey))
        let made = try #require([UInt8](hexadecimal: signature))
        #expect(verifying.accepts(made, of: bytes))
        #expect(!verifying.accepts(made, of: bytes + [0]))
        for position in made.indices {
            var altered = made
            altered[position] ^= 1
            #expect(!verifying.accepts(altered, of: bytes))
        }
        #expect(!"\(key)".contains(seed))
        #expect(!String(reflecting: key).contains(seed))
    }

    @Test func newKeysDiffer() { #expect(Ed25519Key().publicBytes != Ed25519Key().publicBytes) }

    @Test(arguments: [
        (SignatureScheme.ecdsaP256, Vectors.p256, Vectors.p256Signature),
        (.ecdsaP384, Vectors.p384, Vectors.p384Signature), (.rsaPSS256, Vectors.rsa, Vectors.shortSalt),
        (.rsaPSS256, Vectors.rsa, Vectors.longSalt), (.rsaPSS512, Vectors.rsa, Vectors.rsa512),
    ])
    func verifiesWhatOpenSSLSigned(_ scheme: SignatureScheme, _ text: String, _ signature: String) throws {
        let key = try #require(VerifyingKey(scheme, text: text))
        let bytes = try #require([UInt8](hexadecimal: signature))
        #expect(key.accepts(bytes, of: Vectors.message))
        #expect(!key.accepts(bytes, of: Data("massage".utf8)))
        #expect(!key.accepts(Array(bytes.dropLast()), of: Vectors.message))
        #expect(!key.accepts(bytes + [0], of: Vectors.message))
        var altered = bytes
        altered[bytes.count / 2] ^= 4
        #expect(!key.accepts(altered, of: Vectors.message))
        #expect(!key.accepts([], of: Vectors.message))
    }

    @Test func anotherPaddingOrDigestIsRefused() throws {
        let key = try #require(VerifyingKey(.rsaPSS256, text: Vectors.rsa))
        for signature in [Vectors.oldPadding, Vectors.rsa512] {
            #expect(!key.accepts(try #require([UInt8](hexadecimal: signature)), of: Vectors.message))
        }
    }

    @Test(arguments: [
        (SignatureScheme.ecdsaP256, Vectors.k1), (.ecdsaP256, Vectors.p384), (.ecdsaP384, Vectors.p256),
        (.rsaPSS256, Vectors.p256), (.ecdsaP256, Vectors.rsa), (.rsaPSS256, Vectors.shortRSA), (.ed25519, Vectors.p256),
        (.ecdsaP256, ""), (.ecdsaP256, "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----"),
        (.ecdsaP256, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"),
        (.ecdsaP256, Vectors.p256.replacingOccurrences(of: "PUBLIC", with: "PRIVATE")),
        (.ecdsaP256, Vectors.p256.replacingOccurrences(of: "=", with: "")),
        (.ecdsaP256, "-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nAAAA\n-----END PUBLIC KEY-----"),
        (.ed25519, String(repeating: "0", count: 62)), (.ed25519, String(repeating: "0", count: 66)),
        (.ed25519, String(repeating: "g", count: 64)),
    ])
    func keysOfAnotherKindAreRefused(_ scheme: SignatureScheme, _ text: String) {
        #expect(VerifyingKey(scheme, text: text) == nil)
    }

    @Test(arguments: [0, 31, 33, 64]) func seedsOfAnotherLengthAreRefused(_ count: Int) {
        #expect(Ed25519Key(seed: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func longDigestsAreThoseOfTheStandard() {
        let abc =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
            + "454d4423643ce80e2a9ac94fa54ca49f"
        #expect(ForeignDigest.sha512.digest(of: Data("abc".utf8))?.hexadecimal == abc)
        #expect(ForeignDigest.sha512.digest(of: Data())?.hexadecimal.hasPrefix("cf83e1357eefb8bd") == true)
    }
}
