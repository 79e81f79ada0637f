extension String {
    /// Its bytes, for ids that others chose, as keys and to be compared.
    ///
    /// To Swift two texts are equal where they differ in Unicode's normal form alone, such as `é` of one scalar and of two. Postgres and the
    /// other systems hold them apart: as ids they are two customers.
    package var exact: [UInt8] { Array(utf8) }
}
