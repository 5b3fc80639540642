#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "penstock/csv.hpp"
#include "penstock/error.hpp"
#include "tests/support/comma_locale.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;

class CsvFiles : public ::testing::Test {
 protected:
  std::string path() const { return (directory_ / "a.csv").string(); }
  std::shared_ptr<const Dataset> read(const std::string& text, const CsvOptions& options = {}) {
    testing::write_file(path(), text);
    return read_csv(path(), options);
  }
  /// Returns the text behind the name of the file.
  std::string refused(Errc code, const std::string& text, const CsvOptions& options = {}) {
    const std::string refused = refusal(code, [&] { read(text, options); });
    return refused.starts_with(path()) ? refused.substr(path().size() + 2) : refused;
  }

  testing::TemporaryDirectory directory_;
};

/// Returns the features of all samples, one sample behind the other.
std::vector<float> features(const Dataset& dataset) {
  const auto columns = static_cast<std::size_t>(dataset.fields()[0].shape[0]);
  std::vector<float> all;
  std::int64_t label = 0;
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    all.resize(all.size() + columns);
    const std::array destinations{reinterpret_cast<std::byte*>(all.data() + all.size() - columns),
                                  reinterpret_cast<std::byte*>(&label)};
    dataset.read({.index = i}, std::span(destinations).first(dataset.fields().size()));
  }
  return all;
}

template <class Label>
std::vector<Label> labels(const Dataset& dataset) {
  std::vector<float> features(static_cast<std::size_t>(dataset.fields()[0].shape[0]));
  std::vector<Label> all(static_cast<std::size_t>(dataset.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::array destinations{reinterpret_cast<std::byte*>(features.data()),
                                  reinterpret_cast<std::byte*>(&all[i])};
    dataset.read({.index = static_cast<std::int64_t>(i)}, destinations);
  }
  return all;
}

TEST_F(CsvFiles, HaveAllColumnsButTheLabelAsFeatures) {
  const auto dataset = read("a,kind,b\n1,0,2.5\n-3e2,2, 4 \n", {.label = "kind"});
  ASSERT_EQ(dataset->size(), 2);
  ASSERT_EQ(dataset->fields().size(), 2u);
  EXPECT_EQ(dataset->fields()[0].name, "features");
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{2}));
  EXPECT_EQ(dataset->fields()[1].name, "label");
  EXPECT_EQ(dataset->fields()[1].dtype, DType::i64);
  EXPECT_EQ(dataset->fields()[1].shape, Shape{});
  EXPECT_EQ(features(*dataset), (std::vector<float>{1, 2.5f, -300, 4}));
  EXPECT_EQ(labels<std::int64_t>(*dataset), (std::vector<std::int64_t>{0, 2}));
}

TEST_F(CsvFiles, HaveTheChosenColumnsInTheChosenOrder) {
  const auto dataset = read("a,b,c\n1,2,x\n3,4,\n", {.features = {"b", "a", "b"}});
  EXPECT_EQ(dataset->fields().size(), 1u);
  EXPECT_EQ(features(*dataset), (std::vector<float>{2, 1, 2, 4, 3, 4}));
}

TEST_F(CsvFiles, WithoutAHeaderHaveNumberedColumns) {
  const auto dataset = read("1,2,3\n4,5,6\n", {.label = "1", .has_header = false});
  EXPECT_EQ(features(*dataset), (std::vector<float>{1, 3, 4, 6}));
  EXPECT_EQ(labels<std::int64_t>(*dataset), (std::vector<std::int64_t>{2, 5}));
}

TEST_F(CsvFiles, MayHaveLabelsOfNumbersOrOfClasses) {
  const auto numbers = read("a,y\n1,0.5\n2,-1e-3\n", {.label = "y", .label_dtype = DType::f32});
  EXPECT_EQ(numbers->fields()[1].dtype, DType::f32);
  EXPECT_EQ(labels<float>(*numbers), (std::vector{0.5f, -1e-3f}));
  const auto classes =
      read("a,y\n1,\"b, c\"\n2,\n3,b\n", {.label = "y", .classes = {"b", "b, c", ""}});
  EXPECT_EQ(labels<std::int64_t>(*classes), (std::vector<std::int64_t>{1, 2, 0}));
}

TEST_F(CsvFiles, MayHaveOtherSeparatorsQuotesAndLineEnds) {
  EXPECT_EQ(features(*read("a;b\r\n1;2\r\n3;4", {.separator = ';'})),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(features(*read("a\tb\n1\t2\n", {.separator = '\t'})), (std::vector<float>{1, 2}));
  EXPECT_EQ(
      features(*read("\xEF\xBB\xBF\"a,\"\"\nx\"\r\n\"1\"\r\n\n+2\r\n", {.features = {"a,\"\nx"}})),
      (std::vector<float>{1, 2}));
}

TEST_F(CsvFiles, MayHaveNumbersThatAreNearerToZeroThanAFloatOrADouble) {
  const std::string zeros(400, '0');
  std::string rows;
  for (const std::string& number :
       {std::string("1e-42"), std::string("1e-400"), std::string("-1e-400"),
        std::string("0.0000123e-5000"), std::string("1e-9223372036854775809"), "0." + zeros + "1",
        "1" + zeros + "e-900", "0." + zeros + "1e+401", "1" + zeros + "E-400"})
    rows += number + "\n";
  const std::vector<float> numbers = features(*read("a\n" + rows));
  EXPECT_EQ(numbers, (std::vector<float>{1e-42f, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_TRUE(std::signbit(numbers[2]));
}

TEST_F(CsvFiles, AreReadTheSameUnderEveryLocale) {
  const testing::CommaLocale locale;
  EXPECT_EQ(features(*read("a\n1.5\n")), std::vector{1.5f});
}

TEST_F(CsvFiles, OfManyRowsAreRead) {
  std::string text = "a,b\n";
  std::vector<float> expected;
  for (int i = 0; i < 50'000; ++i) {
    text += std::to_string(i) + ",\"" + std::to_string(-i) + "\"\r\n";
    expected.insert(expected.end(), {static_cast<float>(i), static_cast<float>(-i)});
  }
  EXPECT_EQ(features(*read(text)), expected);
}

TEST_F(CsvFiles, WithMissingOrOtherValuesAreRefusedByLineAndColumn) {
  const auto text = [&](const std::string& rows) {
    return refused(Errc::invalid_data, "a,\"b\nc\"\n1,2\n" + rows, {.features = {"b\nc"}});
  };
  EXPECT_EQ(text("3,\n"), "line 4: column \"b?c\": expected a finite number, got a missing value");
  EXPECT_EQ(text("3,  \n"),
            "line 4: column \"b?c\": expected a finite number, got a missing value");
  EXPECT_EQ(text("\n\n3,x\n"), "line 6: column \"b?c\": expected a finite number, got \"x\"");
  EXPECT_EQ(text("3,1e39\n"),
            "line 4: column \"b?c\": expected a number that f32 can hold, got \"1e39\"");
  EXPECT_EQ(text("3\n"), "line 4: expected 2 columns, got 1");
  EXPECT_EQ(text("3,4,5\n"), "line 4: expected 2 columns, got 3");
  for (const std::string value : {"nan", "inf", "-inf", "1e400", "1e9223372036854775808", "1e",
                                  "1 2", "0x10", "1,5", "--1", "+-1", "."})
    EXPECT_NE(text("3," + value + "\n"), "accepted") << value;
}

TEST_F(CsvFiles, WithBadLabelsAreRefusedByLineAndColumn) {
  const auto text = [&](const std::string& label, const CsvOptions& options) {
    return refused(Errc::invalid_data, "a,y\n1," + label + "\n", options);
  };
  EXPECT_EQ(text("1.0", {.label = "y"}),
            "line 2: column \"y\": expected a whole number, got \"1.0\"");
  EXPECT_EQ(text("", {.label = "y"}),
            "line 2: column \"y\": expected a whole number, got a missing value");
  EXPECT_EQ(text("9223372036854775808", {.label = "y"}),
            "line 2: column \"y\": expected a whole number, got \"9223372036854775808\"");
  EXPECT_EQ(text("cow", {.label = "y", .classes = {"cat", "dog"}}),
            "line 2: column \"y\": expected one of the classes \"cat\", \"dog\", got \"cow\"");
}

TEST_F(CsvFiles, WithoutTheColumnsOrWithoutSamplesAreRefused) {
  const auto text = [&](const std::string& file, const CsvOptions& options = {}) {
    return refused(Errc::invalid_data, file, options);
  };
  EXPECT_EQ(text("size,mass\n1,2\n", {.label = "masse"}),
            "line 1: there is no column \"masse\"; did you mean \"mass\"?");
  EXPECT_EQ(text("a,a\n1,2\n", {.label = "a"}), "line 1: expected one column \"a\", got several");
  EXPECT_EQ(text("a\n1\n", {.label = "a"}), "line 1: expected a column beside the label, got none");
  EXPECT_EQ(text(""), "expected a table, got an empty file");
  EXPECT_EQ(text("\n\r\n"), "expected a table, got an empty file");
  EXPECT_EQ(text("a,b\n"), "expected samples, got none");
}

TEST_F(CsvFiles, WithQuotesInTheWrongPlaceAreRefused) {
  const auto text = [&](const std::string& rows) {
    return refused(Errc::corrupt_file, "a,b\n" + rows);
  };
  EXPECT_EQ(text("1,\"2\n3,4\n"), "line 2: a value in quotes has no quote at its end");
  EXPECT_EQ(text("1,2\"\n"),
            "line 2: expected a quote at the beginning of a value only, got one within");
  EXPECT_EQ(text("1,\"2\"3\n"), "line 2: expected the end of a value behind its quote, got more");
  EXPECT_EQ(text("1," + std::string(65'536, ',')),
            "line 2: expected at most 65536 columns, got more");
}

TEST_F(CsvFiles, NeedOptionsThatMakeSense) {
  const auto text = [&](const CsvOptions& options) {
    return refused(Errc::invalid_argument, "a,y\n1,2\n", options);
  };
  for (const char separator : {'"', '\n', '\r', '\0'})
    EXPECT_EQ(text({.separator = separator}),
              "read_csv: expected a separator that is no quote, no end of a line and not NUL");
  EXPECT_EQ(text({.label = "y", .label_dtype = DType::u8}),
            "read_csv: expected labels of i64 or f32, got u8");
  EXPECT_EQ(text({.classes = {"a"}}), "read_csv: expected the name of a label beside the classes");
  EXPECT_EQ(text({.label = "y", .label_dtype = DType::f32, .classes = {"a"}}),
            "read_csv: expected labels of i64 beside classes");
  EXPECT_EQ(text({.label = "y", .classes = {"a", "b", "a"}}),
            "read_csv: expected different classes, got \"a\" twice");
  EXPECT_EQ(text({.features = {"a", "y"}, .label = "y"}),
            "read_csv: expected a label that is none of the features, got \"y\" as both");
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_csv(path() + "2"); }), path() + "2: no such file");
}

}  // namespace
}  // namespace penstock
