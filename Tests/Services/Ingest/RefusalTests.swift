import StrictJSON
import Testing

@testable import Ingest

@Suite struct RefusalTests {
    static let all: [Refusal] = [
        .empty, .notJSON("a \"fault\""), .notAnObject, .noSignedPayload, .signedPayloadNotAString, .notThreeSegments,
        .noSuchPath, .method, .contentType, .tooLarge(limit: 1), .tooSlow, .tooManyInFlight, .logUnavailable,
    ]

    @Test(arguments: all)
    func `every refusal is a small JSON object that says what is wrong`(refusal: Refusal) throws {
        let root = try JSONDocument(refusal.json).root
        #expect(root["error"]?.string == refusal.name)
        #expect(root["message"]?.string == refusal.message)
    }

    @Test func `names are unique, because they are counted`() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }

    @Test func `what we want and cannot take is never answered 4xx, so that Apple sends it again`() {
        #expect(Refusal.tooManyInFlight.status == 503)
        #expect(Refusal.logUnavailable.status == 503)
    }
}
