import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuine payloads changed by chance: in the text, or before signing in payload, header or certificates. Without
    /// expected results; they compare two verifiers.
    public func mutations(count: Int, using random: inout some RandomNumberGenerator) throws -> [Forgery] {
        let payload = try envelope(transaction(), renewal()).json
        let header = CompactJWS.headerJSON(x5c: authority.x5c)
        let genuine = try signer.sign(payload)
        return try (0..<count).map { number in
            switch number % 4 {
            case 0:
                return Forgery("mutation \(number) of the text", nil, mutated(genuine, using: &random))
            case 1:
                let changed = mutated(payload, using: &random)
                return Forgery("mutation \(number) of the payload", nil, try signer.sign(changed))
            case 2:
                let changed = mutated(header, using: &random)
                return Forgery(
                    "mutation \(number) of the header", nil,
                    try CompactJWS.signed(headerJSON: changed, payloadJSON: payload, key: authority.leafKey))
            default:
                var chain = [authority.leaf, authority.intermediate, authority.root]
                let place = Int.random(in: 0..<3, using: &random)
                chain[place] = mutated(chain[place], using: &random)
                return Forgery(
                    "mutation \(number) of x5c[\(place)]", nil, try underChain(chain, key: authority.leafKey))
            }
        }
    }

    private func mutated(_ bytes: [UInt8], using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = bytes
        let interesting = Array("\"\\{}[],:.=-_+/ 0129eEfnA\n".utf8) + [0x00, 0x01, 0x7F, 0x80, 0xC3, 0xFF]
        for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = interesting[Int.random(in: 0..<interesting.count, using: &random)]
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.insert(interesting[Int.random(in: 0..<interesting.count, using: &random)], at: place)
            case 3: bytes.remove(at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...16, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
            }
        }
        return bytes
    }

}
