import Foundation
import StrictJSON
import TestSupport
import Testing

/// Ten thousand random documents, the same in every run: whatever we accept, Foundation accepts with the same values.
@Suite struct JSONMutationTests {

    private static let seeds = [
        #"{"notificationType":"DID_RENEW","data":{"appAppleId":123,"bundleId":"a.b","x":[1.5,-2e3,true,false,null]}}"#,
        #"["é","\u00e9\uD83D\uDE00","\"\\\/\b\f\n\r\t",{"":0,"a":[[],{}]},0,-0.0,1E+2,12345678901234567890]"#,
        #"{"signedPayload":"eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlFTURDQ0E3YWdBd0lCQWdJUWFQb1BsZHZwU29FSDBsQnJqRFB2OWpB.e30.AA"}"#,
    ].map { Array($0.utf8) }

    @Test func `Document that JSONDocument accepts is accepted by Foundation with the same values`() throws {
        var random = SeededGenerator(state: 1)
        var accepted = 0
        for _ in 0..<10_000 {
            var bytes = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&bytes, using: &random) }
            guard let document = try? JSONDocument(bytes) else { continue }
            accepted += 1
            let foundations = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            guard let foundations else {
                // Foundation refuses a number beyond Double; we accept it as a number that has no Double.
                if hasNumberWithoutDouble(document.root) { continue }
                Issue.record("only we accept \(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            #expect(isSame(document.root, foundations), "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 1000)
    }

    private func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let interesting =
            Array("\"\\{}[],:0123456789eE+-.utfn \u{0}\u{1F}\u{7F}".utf8) + [0x80, 0xC3, 0xED, 0xF0, 0xFF]
        let letter = interesting[Int.random(in: 0..<interesting.count, using: &random)]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = letter
        case 1: bytes.insert(letter, at: place)
        case 2: bytes.remove(at: place)
        default:
            let end = min(bytes.count, place + Int.random(in: 1...8, using: &random))
            bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        }
    }

    private func hasNumberWithoutDouble(_ value: JSONValue) -> Bool {
        value.kind == .number && value.double == nil || value.elements.contains(where: hasNumberWithoutDouble)
            || value.members.contains { hasNumberWithoutDouble($0.value) }
    }

    private func isSame(_ ours: JSONValue, _ foundations: Any) -> Bool {
        switch ours.kind {
        case .object:
            guard let object = foundations as? [String: Any], object.count == ours.members.count else { return false }
            return ours.members.allSatisfy { member in object[member.key].map { isSame(member.value, $0) } ?? false }
        case .array:
            guard let array = foundations as? [Any], array.count == ours.elements.count else { return false }
            return zip(ours.elements, array).allSatisfy { isSame($0, $1) }
        case .string: return ours.string == foundations as? String
        case .number:
            guard let number = ours.double, let other = (foundations as? NSNumber)?.doubleValue else { return false }
            // Foundation rounds integers of more than 64 bits by way of decimals.
            return abs(number - other) <= abs(number) * 0x1p-50
        case .bool: return ours.bool == foundations as? Bool
        case .null: return foundations is NSNull
        }
    }
}
