import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthPublishing

struct RemoteSettingsTests {
    private static let file = """
        # Remotes
        [r2]
        type = s3
        provider = Cloudflare
        access_key_id = FILEKEY
        secret_access_key = filesecret/+=
        endpoint = https://a1.r2.cloudflarestorage.com

        [disk]
        type = local

        [bare]
        type = s3
        provider = Minio
        access_key_id = K
        secret_access_key = S

        [aws]
        type = s3
        provider = AWS
        env_auth = true
        region = eu-central-1
        """

    private func access(_ remote: String, _ environment: [String: String] = [:]) throws -> BucketAccess {
        try RemoteSettings(text: Self.file, environment: environment, file: Path("/etc/rclone.conf")).access(to: remote)
    }

    @Test func readsTheFile() throws {
        let access = try access("r2")
        #expect(access.endpoint.absoluteString == "https://a1.r2.cloudflarestorage.com")
        #expect(access.region == "auto")
        #expect(access.accessKey == "FILEKEY")
        #expect(access.secretKey.value == "filesecret/+=")
        #expect(!"\(access)".contains("filesecret"))
    }

    @Test func theEnvironmentWins() throws {
        let access = try access(
            "r2", ["RCLONE_CONFIG_R2_ACCESS_KEY_ID": "ENVKEY", "RCLONE_CONFIG_R2_REGION": "weur"])
        #expect(access.accessKey == "ENVKEY")
        #expect(access.region == "weur")
    }

    @Test func aRemoteMayBeInTheEnvironmentAlone() throws {
        let access = try access(
            "my-s3",
            [
                "RCLONE_CONFIG_MY_S3_TYPE": "s3", "RCLONE_CONFIG_MY_S3_ACCESS_KEY_ID": "K",
                "RCLONE_CONFIG_MY_S3_SECRET_ACCESS_KEY": "S", "RCLONE_CONFIG_MY_S3_ENDPOINT": "http://127.0.0.1:9000",
            ])
        #expect(access.endpoint.absoluteString == "http://127.0.0.1:9000")
        #expect(access.region == "us-east-1")
    }

    @Test func theVariablesOfAmazonWillDo() throws {
        let keys = ["AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T"]
        let plain = try access("s3", keys)
        #expect(plain.endpoint.absoluteString == "https://s3.us-east-1.amazonaws.com")
        #expect(plain.sessionToken?.value == "T")
        let other = try access(
            "s3", keys.merging(["AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "https://s3.example"]) { $1 })
        #expect(other.endpoint.absoluteString == "https://s3.example")
        #expect(other.region == "eu-west-1")
        #expect(try access("aws", keys).endpoint.absoluteString == "https://s3.eu-central-1.amazonaws.com")
    }

    @Test(arguments: [
        ("none", "remote-unknown"), ("disk", "remote-unusable"), ("bare", "remote-unusable"), ("s3", "remote-unusable"),
        ("aws", "remote-unusable"),
    ])
    func saysWhatIsMissing(_ remote: String, _ code: String) throws {
        let error = #expect(throws: PublishingError.self) { try access(remote) }
        #expect(error?.codeText == code)
        #expect(error?.context.remedy != nil)
    }

    @Test(arguments: [
        "http://s3.example", "ftp://s3.example", "https://s3.example/path", "https://", "https://s3.example?x=1", "a b",
    ])
    func anEndpointIsAnAddressOfAServer(_ endpoint: String) {
        let error = #expect(throws: PublishingError.self) {
            try access("r2", ["RCLONE_CONFIG_R2_ENDPOINT": endpoint])
        }
        #expect(error?.code == .remoteUnusable)
    }

    @Test(arguments: ["a\nb", "a b", "ü", ""])
    func aKeyThatCannotBeSentIsRefused(_ key: String) {
        let variables = ["RCLONE_CONFIG_BARE_SECRET_ACCESS_KEY": key, "RCLONE_CONFIG_BARE_ENDPOINT": "s3.example"]
        if key.isEmpty {
            // An empty variable counts as absent.
            #expect((try? access("bare", variables))?.secretKey.value == "S")
        } else {
            let error = #expect(throws: PublishingError.self) { try access("bare", variables) }
            #expect(error?.code == .remoteUnusable)
            #expect(error.map { !"\($0)".contains(key) } == true)
        }
    }

    @Test func anEncryptedFileIsSaid() throws {
        let error = #expect(throws: PublishingError.self) {
            try RemoteSettings(text: "# Encrypted\n\nRCLONE_ENCRYPT_V0:\nabc", environment: [:], file: nil)
        }
        #expect(error?.code == .remoteUnusable)
    }

    @Test func findsTheFileWhereRcloneHasIt() throws {
        let folder = try TemporaryFolder()
        try folder.write(".config/rclone/rclone.conf", Data(Self.file.utf8))
        let named = try folder.write("other.conf", Data("[x]\ntype = s3\naccess_key_id=A\nsecret_access_key=B".utf8))
        let home = ["HOME": folder.path.string]
        #expect(try RemoteSettings.load(environment: home).remotes == ["aws", "bare", "disk", "r2"])
        let other = try RemoteSettings.load(environment: home.merging(["RCLONE_CONFIG": named.string]) { $1 })
        #expect(other.remotes == ["x"])
        #expect(try RemoteSettings.load(environment: [:]).remotes == [])
    }

    @Test(arguments: [
        ("r2:models", "r2:models"), ("r2:models/", "r2:models"), ("my-s3:a.b.c/x/y", "my-s3:a.b.c/x/y"),
        ("r2:models//x", "r2:models/x"), ("./r2:models", nil), ("origin", nil), ("/srv/a:b", nil), (":x", nil),
        ("../a:b", nil),
    ])
    func aLocationIsAFolderOrABucket(_ text: String, _ expected: String?) throws {
        #expect(try BucketLocation(text)?.description == expected)
    }

    @Test(arguments: ["r2:", "r2:ab", "r2:UPPER", "r2:a_b", "r2:models/../x", "r2:models/a\u{0}b", "r2:../models"])
    func aBucketsNameIsChecked(_ text: String) {
        let error = #expect(throws: PublishingError.self) { try BucketLocation(text) }
        #expect(error?.code == .remoteUnusable)
        #expect(error?.disposition == .usage)
    }
}

struct S3DocumentTests {
    @Test func readsWhatServersWrite() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a > b -->
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix/>
            <Contents><Key>a&amp;b &#x41;&#66;&lt;</Key><ETag>&quot;x&quot;</ETag></Contents>
            <Contents><Key>c</Key></Contents></ListBucketResult>
            """
        let document = try #require(S3Document(Data(text.utf8)))
        #expect(document.name == "ListBucketResult")
        #expect(document.all("Contents").map { $0["Key"] } == ["a&b AB<", "c"])
        #expect(document["Prefix"] == "")
        #expect(document["None"] == nil)
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a>&x;</a>", "<a>&amp</a>", "<a>&#xD800;</a>", "<>", "<a",
        "<!-- <a></a>", "<a></a>x", "\u{FFFD}<",
        String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40),
    ])
    func refusesWhatIsNoDocument(_ text: String) { #expect(S3Document(Data(text.utf8)) == nil) }

    @Test func refusesBytesThatAreNoText() { #expect(S3Document(Data([0x3C, 0xFF, 0x3E])) == nil) }

    @Test(
        arguments: [
            (8 << 20, 8 << 20, 1), ((8 << 20) + 1, 8 << 20, 2), (72_000 << 20, 8 << 20, 9000),
            (200_000 << 20, 23 << 20, 8696),
        ] as [(UInt64, UInt64, Int)])
    func aFileIsDividedTheSameWayEachTime(_ size: UInt64, _ part: UInt64, _ count: Int) {
        let plan = PartPlan(fileSize: size)
        #expect(plan.partSize == part)
        #expect(plan.count == count)
        #expect(plan.range(1).lowerBound == 0)
        #expect(plan.range(count).upperBound == size)
    }
}
