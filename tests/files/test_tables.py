"""Table files: formats, encodings, leading zeros, and files too large for memory."""

import gzip
import zipfile

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.cli import main
from rocpath.files import unpacking
from tests.cli.command_tables import fails, labeled_table


@pytest.mark.parametrize("extension", ["feather", "arrow", "xlsx", "parquet"])
def test_binary_formats_are_read(tmp_path, extension):
    table = labeled_table().drop("nothing")
    path = tmp_path / f"t.{extension}"
    if extension == "xlsx":
        pytest.importorskip("fastexcel")
        pd = pytest.importorskip("pandas")
        pytest.importorskip("openpyxl")
        pd.DataFrame(table.to_dict(as_series=False)).to_excel(path, index=False)
    elif extension == "parquet":
        table.write_parquet(path)
    else:
        table.write_ipc(path)
    found = rp.read_table(path)
    assert found.columns == table.columns
    assert found["y"].to_list() == table["y"].to_list()
    np.testing.assert_allclose(found["size"].to_numpy(), table["size"].to_numpy())
    path.write_bytes(b"not a table")
    with pytest.raises(ValueError, match="is not readable"):
        rp.read_table(path)


def write_workbook(path, **sheets):
    """Write an Excel file whose sheets contain rows of text and numbers."""
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    names, links, types = "", "", ""
    with zipfile.ZipFile(path, "w") as book:
        for k, (name, rows) in enumerate(sheets.items(), 1):
            names += f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>'
            links += f'<Relationship Id="r{k}" Type="{office}/worksheet" Target="sheet{k}.xml"/>'
            types += f'<Override PartName="/xl/sheet{k}.xml" ContentType="{kind}.worksheet+xml"/>'
            cells = "".join(
                f"<row>{''.join(map(_cell, row, 'ABCDEF', [place] * len(row)))}</row>"
                for place, row in enumerate(rows, 1)
            )
            sheet = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
            book.writestr(f"xl/sheet{k}.xml", head + sheet)
        root = f'{head}<workbook xmlns="{main}" xmlns:r="{office}">'
        book.writestr("xl/workbook.xml", f"{root}<sheets>{names}</sheets></workbook>")
        relations = f'{head}<Relationships xmlns="{package}/relationships">'
        book.writestr("xl/_rels/workbook.xml.rels", f"{relations}{links}</Relationships>")
        start = f'<Relationship Id="r" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        book.writestr("_rels/.rels", f"{relations}{start}</Relationships>")
        main_part = f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        default = '<Default Extension="rels" ContentType="application/xml"/>'
        content = f'<Types xmlns="{package}/content-types">{default}{main_part}{types}</Types>'
        book.writestr("[Content_Types].xml", head + content)


def _cell(value, column, row):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{column}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{column}{row}"><v>{value}</v></c>'


def test_the_first_sheet_with_rows_is_read(tmp_path):
    pytest.importorskip("fastexcel")
    path = tmp_path / "t.xlsx"
    rows = [["zip", "empty", "size", "y"], ["00501", None, 1.5, "no"], ["10001", None, 2, "yes"]]
    write_workbook(path, title=[["Report"]], blank=[], data=rows)
    table = rp.read_table(path)
    assert table.columns == rows[0]
    assert table["zip"].to_list() == ["00501", "10001"]
    assert table["size"].to_list() == [1.5, 2.0]
    assert table["empty"].null_count() == 2
    write_workbook(path, title=[["Report"]], data=rows, old=rows)
    with pytest.warns(UserWarning, match="has 2 sheets with rows: only 'data' is read"):
        assert rp.read_table(path).height == 2
    write_workbook(path, blank=[])
    with pytest.raises(ValueError, match="no rows"):
        rp.read_table(path)


def test_text_in_another_encoding_is_read_if_the_encoding_is_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,y\n1,ä\n".encode("latin-1"))
    with pytest.raises(ValueError, match="specify its encoding, such as latin-1"):
        rp.read_table(path)
    assert rp.read_table(path, encoding="latin-1").rows() == [(1, "ä")]
    with pytest.raises(ValueError, match="such as latin-1, got 'no-such'"):
        rp.read_table(path, encoding="no-such")


def test_leading_zeros_are_kept_and_other_integers_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,n,share\n00501,10,0.5\n10001,20,0.7\n")
    table = rp.read_table(path)
    assert table["zip"].to_list() == ["00501", "10001"]
    assert table.dtypes == [pl.String, pl.Int64, pl.Float64]
    path.write_text('zip,n\n"00501","10"\n"10001","20"\n')
    assert rp.read_table(path).rows() == [("00501", 10), ("10001", 20)]


def test_errors_state_the_sizes_of_files_that_do_not_fit_into_memory(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"0,1\n" * 5_000_000))
    monkeypatch.setattr(unpacking, "memory_limit", lambda: 40_000_000)
    message = r"is 0\.0 MB compressed and more than 10 MB decompressed"
    with pytest.raises(MemoryError, match=message):
        rp.read_table(path)
    plain = tmp_path / "t.csv"
    plain.write_bytes(b"a,y\n" + b"0,1\n" * 5_000_000)
    with pytest.raises(MemoryError, match="is 20 MB and would need about 80 MB"):
        rp.read_table(plain)


def test_concatenated_gzip_streams_are_one_file(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,2\n") + gzip.compress(b"3,4\n") + b"\0\0")
    assert rp.read_table(path).rows() == [(1, 2), (3, 4)]


def test_a_header_with_too_many_columns_is_rejected(tmp_path):
    path = tmp_path / "t.csv"
    names = ",".join(f"c{k}" for k in range(200_001))
    path.write_text(f"{names}\n{names}\n")
    with pytest.raises(ValueError, match="has 200,001 columns, more than the 200,000"):
        rp.read_table(path)


def test_formulas_are_quoted_in_the_scores(tmp_path, capsys, fitted):
    model, table = fitted
    names = ["=1+1", "+a", "-5", "@x", "plain", None] * 5
    rows = pl.read_csv(table).with_columns(name=pl.Series(names))
    rows.write_csv(tmp_path / "t.csv")
    out = tmp_path / "scores.csv"
    argv = ["predict", model, str(tmp_path / "t.csv"), "--id", "name", "--out"]
    assert main([*argv, str(out)]) == 0
    found = pl.read_csv(out, infer_schema=False)["name"].to_list()
    assert found[:6] == ["'=1+1", "'+a", "-5", "'@x", "plain", None]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["fit", "none.csv", "--label", "y"], "'none.csv' does not exist"),
        (["fit", "{table}", "--label", "z"], "label column 'z' not found; columns are"),
        (["fit", "{table}", "--label", "y", "--drop", "y"], "must not name the label"),
        (["fit", "{table}", "--label", "y", "--group", "g"], "group column 'g' not"),
        (["fit", "{table}", "--label", "y", "--type", "q=drop"], "type column 'q' not"),
        (["predict", "{model}", "none.csv"], "'none.csv' does not exist"),
    ],
)
def test_files_and_columns_are_checked_before_rows_are_read(
    monkeypatch, capsys, fitted, argv, message
):
    def read(*_, **__):
        raise AssertionError("the table was read")

    monkeypatch.setattr("rocpath.files.tables.read_table", read)
    argv = [one.format(model=fitted[0], table=fitted[1]) for one in argv]
    assert message in fails(capsys, argv)


def test_output_through_a_dangling_link_is_rejected(tmp_path, capsys, fitted):
    out = tmp_path / "link"
    out.symlink_to(tmp_path / "nowhere")
    argv = ["fit", fitted[1], "--label", "y", "--out", str(out)]
    assert "already exists" in fails(capsys, argv)


def test_formulas_are_quoted_in_tables_of_sequences_and_weights(tmp_path):
    rows = [f"=1+1,{k % 7}" for k in range(40)]
    path = tmp_path / "sequences.csv"
    path.write_text("\n".join(["sequence,value", *rows]))
    assert main(["changepoint", "segment", str(path), "--out", str(tmp_path / "out")]) == 0
    assert pl.read_csv(tmp_path / "out" / "sequences.csv")["sequence"].to_list() == ["'=1+1"]
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    scores = pl.DataFrame({"=a": y + rng.normal(size=80), "b": y + rng.normal(size=80), "y": y})
    scores.write_csv(path)
    argv = ["blend", str(path), "--label", "y", "--out", str(tmp_path / "blend"), "--quiet"]
    assert main(argv) == 0
    assert pl.read_csv(tmp_path / "blend" / "weights.csv")["score"].to_list() == ["'=a", "b"]
