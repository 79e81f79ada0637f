import Foundation

/// Owns a NULL-terminated array of C strings. The strings must hold no NUL themselves; what follows one is lost.
final class CStrings {
    private let strings: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        strings = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() {
            strings[index] = UnsafePointer(strdup(text))
        }
        strings[count] = nil
    }

    deinit {
        for index in 0..<count { free(UnsafeMutablePointer(mutating: strings[index])) }
        strings.deallocate()
    }

    /// Valid as long as this object.
    var pointer: UnsafePointer<UnsafePointer<CChar>?> { UnsafePointer(strings) }
}
