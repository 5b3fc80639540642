// read_csv() makes a dataset of a table in a text file. A reader trusts nothing in a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// CsvOptions say what read_csv() makes of the columns of a table. A column is called by its name
/// in the first row, or by its number, from "0" on, if the table has no such row.
struct CsvOptions {
  /// These columns are the features of a sample, in this order. If the list is empty, all columns
  /// but the label are, in the order of the file.
  std::vector<std::string> features = {};
  /// This column, which is none of `features`, is the label. If the name is empty, there is no
  /// label.
  std::string label = {};
  /// Labels are whole numbers, i64, such as the numbers of classes, or numbers of f32.
  DType label_dtype = DType::i64;
  /// If the list is not empty, the label is one of these texts, and the dataset gives its place in
  /// this list, from 0, as i64.
  std::vector<std::string> classes = {};
  char separator = ',';  ///< This character stands between the columns of a row.
  bool has_header =
      true;  ///< `has_header` says whether the first row has the names of the columns.
};

/// Reads a text file in which each line is a row of a table. A value that has a separator, a quote
/// or the end of a line in it stands in double quotes, and a quote within is written twice. Lines
/// end with LF or CR LF, and empty lines are passed over. Spaces around a number are passed over,
/// and so is a byte order mark of UTF-8 at the beginning of the file. The fields of a sample are
/// features, f32 [columns], and label, i64 [] or f32 [], if there is one. Numbers are rounded to
/// f32, so that one that is very near to 0 becomes a denormal or 0. The file may not be gzipped.
/// The call allocates no more than a small multiple of the file's size.
/// @throws Error io_error if the file cannot be read; corrupt_file for a quote that is not closed,
/// or that stands within a value, and for more than 65,536 columns; invalid_data for a row with
/// another number of columns than the first one, for a column that is not there or is there twice,
/// for a missing value, for one that is no finite number of the field's type, for a label that is
/// not one of `classes`, and for a table without samples. The text names the file, the line and the
/// column.
/// @throws Error invalid_argument for options that make no sense; out_of_memory.
std::shared_ptr<const Dataset> read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace penstock
