// A sequence of vectors goes in and out.
func.func @main(%elements: tensor<?xf32, #tenon.shape<total>> {tenon.name = "s", tenon.role = #tenon.role<elements>},
                %shapes: tensor<?x1xi64, #tenon.shape<length, 1>> {tenon.name = "s", tenon.role = #tenon.role<shapes>})
    -> (tensor<?xf32, #tenon.shape<total>> {tenon.name = "t", tenon.role = #tenon.role<elements>},
        tensor<?x1xi64, #tenon.shape<length, 1>> {tenon.name = "t", tenon.role = #tenon.role<shapes>}) {
  return %elements, %shapes : tensor<?xf32, #tenon.shape<total>>, tensor<?x1xi64, #tenon.shape<length, 1>>
}
