import Postgres
import StrictJSON

extension JSONText {
    /// An array of texts.
    init(texts: [String]) {
        var json = JSONWriter()
        json.beginArray()
        for text in texts { json.element(text) }
        json.endArray()
        self.init(String(decoding: json.bytes, as: UTF8.self))
    }

    /// The texts of an array; nil where it is something else.
    var texts: [String]? {
        (try? JSONDocument(Array(text.utf8)))?.root.elements.compactMap(\.string)
    }
}
