import StrictJSON
import Testing

@testable import Ingest

@Suite struct RequestRejectionTests {
    static let all: [RequestRejection] = [
        .empty, .notJSON("a \"fault\""), .notAnObject, .noSignedPayload, .signedPayloadNotAString, .notThreeSegments,
        .noSuchPath, .method, .contentType, .tooLarge(limit: 1), .tooSlow, .tooManyInFlight, .kafkaUnavailable,
    ]

    @Test(arguments: all)
    func `every rejection is a small JSON object that says what is wrong`(rejection: RequestRejection) throws {
        let root = try JSONDocument(rejection.json).root
        #expect(root["error"]?.string == rejection.name)
        #expect(root["message"]?.string == rejection.message)
    }

    @Test func `names are unique, because they are counted`() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }

    @Test func `what we want and cannot take is never answered 4xx, so that Apple sends it again`() {
        #expect(RequestRejection.tooManyInFlight.status == 503)
        #expect(RequestRejection.kafkaUnavailable.status == 503)
    }
}
