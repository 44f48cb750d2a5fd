"""Tables, files and sources in every estimator: one content, one model, whatever the form, read again as before."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import gossamer as gs

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

RNG = np.random.default_rng(1)
N = 300
CITIES = np.array(["Rome", "Oslo", "Bonn", "São Paulo"])


def messy():
    """Return a table of numbers, some missing, of categories, some missing, and of small whole numbers."""
    size, rooms, city = RNG.normal(60, 20, N).round(3), RNG.integers(1, 6, N), RNG.choice(CITIES, N).astype(object)
    price = 0.1 * size + rooms + 3 * (city == "Oslo") + RNG.normal(0, 0.3, N)
    frame = pd.DataFrame({"size": size, "rooms": rooms, "city": city, "price": price.round(4)})
    frame["dear"] = np.where(frame.price > frame.price.median(), "yes", "no")
    frame.loc[::7, "size"] = np.nan
    frame.loc[3::11, "city"] = None
    return frame


TABLE = messy()
REGRESSORS = {
    "online": gs.OnlineRegressor(alpha=1e-3),
    "online, passes": gs.OnlineRegressor(alpha=1e-3, max_passes=3, method="fobos"),
    "online, path": gs.OnlineRegressorCV(alphas=4),
    "batch": gs.BatchRegressor(alpha=1e-2),
    "batch, path": gs.BatchRegressorCV(alphas=6, cv=3),
    "boosting": gs.BoostingRegressor(alpha=1e-2),
    "boosting, stumps": gs.BoostingRegressor(alpha=1e-2, features="stumps", max_rounds=20),
}
CLASSIFIERS = {
    "online": gs.OnlineClassifier(alpha=1e-3),
    "online, one-hot": gs.OnlineClassifier(alpha=1e-3),
    "online, path": gs.OnlineClassifierCV(alphas=4),
    "batch": gs.BatchClassifier(alpha=1e-2),
    "batch, path": gs.BatchClassifierCV(alphas=6, cv=3),
    "boosting": gs.BoostingClassifier(alpha=1e-2),
    "boosting, stumps": gs.BoostingClassifier(alpha=1e-2, features="stumps", max_rounds=20),
}
ALL = [("price", name) for name in REGRESSORS] + [("dear", name) for name in CLASSIFIERS]


def new(case):
    target, name = case
    return clone((REGRESSORS if target == "price" else CLASSIFIERS)[name])


def options(case):
    target, name = case
    other = "dear" if target == "price" else "price"
    return {"target": target, "ignore": [other]} | ({"one_hot": True} if name == "online, one-hot" else {})


def learned(estimator):
    """Return the numbers that were learned."""
    weights = estimator.weights_ if hasattr(estimator, "weights_") else estimator.coef_
    return [
        np.asarray(weights),
        np.asarray(estimator.intercept_),
        np.array(list(map(str, estimator.nonzero_features_))),
    ]


def predictions(estimator, data):
    if hasattr(estimator, "classes_"):
        return estimator.predict_proba(data)
    return estimator.predict(data)


class Streamed:
    """A table that speaks the Arrow stream protocol, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """Return functions that make the table in each form; some can be read only once."""
    folder = tmp_path_factory.mktemp("tables")
    table = pa.Table.from_pandas(TABLE, preserve_index=False)
    TABLE.to_csv(folder / "table.csv", index=False)
    parquet.write_table(table, folder / "table.parquet", row_group_size=70)
    made = {
        "pandas": lambda: TABLE,
        "polars": lambda: pl.from_arrow(table),
        "polars, lazy": lambda: pl.from_arrow(table).lazy(),
        "stream": lambda: Streamed(table.to_reader(max_chunksize=77)),
        "arrow": lambda: table,
        "csv": lambda: folder / "table.csv",
        "parquet": lambda: str(folder / "table.parquet"),
        "arrow reader": lambda: table.to_reader(max_chunksize=50),
        "arrow data set": lambda: dataset.dataset(folder / "table.parquet"),
        "arrow scanner": lambda: dataset.dataset(folder / "table.parquet").scanner(batch_size=30),
    }
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("flats", table)
    made["duckdb"] = lambda: connection.sql("select * from flats")
    made["duckdb, executed"] = lambda: duckdb.connect().register("flats", table).execute("select * from flats")
    return made


pytestmark = pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")  # DuckDB knows a quicker way

ONCE = ("arrow reader", "arrow scanner", "stream", "duckdb, executed")  # forms that cannot be read twice


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_the_same_content_gives_the_same_model_in_every_form(case, forms):
    expected = new(case).fit(TABLE, **options(case))
    assert predictions(expected, TABLE).shape[0] == N
    for form, make in forms.items():
        if form in ONCE and getattr(expected, "max_passes", 1) > 1:
            with pytest.raises(ValueError, match="only once"):
                new(case).fit(make(), **options(case))
            continue
        classes = {"classes": ["no", "yes"]} if form in ONCE and "Online" in type(expected).__name__ else {}
        classes = classes if case[0] == "dear" else {}
        fitted = new(case).fit(make(), **options(case), **classes)
        for one, other in zip(learned(fitted), learned(expected), strict=True):
            assert_array_equal(one, other, err_msg=form)
        assert_array_equal(predictions(expected, make()), predictions(expected, TABLE), err_msg=form)
        assert expected.score(make()) == expected.score(TABLE)


def test_several_files_are_one(tmp_path):
    """Where the first rows of the first file tell as much as those of all: no number is missing."""
    table = TABLE.dropna(subset="size")
    paths = [str(tmp_path / f"part{i}.csv") for i in range(3)]
    for path, part in zip(paths, np.array_split(np.arange(len(table)), 3), strict=True):
        table.iloc[part].to_csv(path, index=False)
    for case in ALL:
        one, other = new(case).fit(paths, **options(case)), new(case).fit(table, **options(case))
        assert_array_equal(learned(one)[0], learned(other)[0])
        assert_array_equal(predictions(one, paths), predictions(other, table), err_msg=str(case))


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_y_apart_is_a_target_in_the_table(case):
    inside = new(case).fit(TABLE, **options(case))
    features = TABLE.drop(columns=["price", "dear"])
    more = {"one_hot": True} if case[1] == "online, one-hot" else {}
    apart = new(case).fit(features, TABLE[case[0]], **more)
    for one, other in zip(learned(apart), learned(inside), strict=True):
        assert_array_equal(one, other)
    assert_array_equal(predictions(apart, features), predictions(inside, TABLE))
    assert apart.score(features, TABLE[case[0]]) == inside.score(TABLE)
    with pytest.raises(ValueError, match="score needs y"):
        apart.score(features)


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_how_it_was_read_is_remembered(case, tmp_path, forms):
    estimator = new(case).fit(TABLE, **options(case))
    others = [pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)]
    if hasattr(estimator, "sparsify"):
        others.append(copy.deepcopy(estimator).sparsify())
    if hasattr(estimator, "at"):
        others.append(estimator.at())
    for other in others:
        assert_allclose(predictions(other, forms["csv"]()), predictions(estimator, TABLE), rtol=1e-12)
        assert_array_equal(other.nonzero_features_, estimator.nonzero_features_)
        assert_array_equal(other.predict(gs.source(TABLE)), estimator.predict(TABLE))
    if "stumps" not in case[1]:
        gs.save(estimator, tmp_path / "model.gsm")
        model = gs.load(tmp_path / "model.gsm")
        close = {"rtol": 1e-12, "atol": 1e-13} if "boosting" in case[1] else {"rtol": 0, "atol": 0}  # other sums
        for make in forms.values():
            assert_allclose(predictions_of(model, make()), predictions(estimator, TABLE), **close)


def predictions_of(model, data):
    return model.predict(data) if model.kind == "regression" else model.predict_proba(data)


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_rows_of_other_data(case):
    """Columns in another order, without the target, with levels that were not there; a column too few, or of words."""
    estimator = new(case).fit(TABLE, **options(case))
    turned = TABLE[["city", "rooms", "size"]]
    assert_array_equal(predictions(estimator, turned), predictions(estimator, TABLE))
    strange = TABLE.assign(city="Atlantis")
    there = predictions(estimator, strange)
    assert_array_equal(there, predictions(estimator, TABLE.assign(city="Lemuria")))
    assert not np.array_equal(there, predictions(estimator, TABLE))
    with pytest.raises(ValueError, match="'rooms'"):
        estimator.predict(TABLE.drop(columns="rooms"))
    with pytest.raises(ValueError, match="'size'"):
        estimator.predict(TABLE.assign(size="large"))


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_a_fit_that_fails_changes_nothing(case):
    estimator = new(case).fit(TABLE, **options(case))
    before = pickle.dumps(estimator)
    with pytest.raises(ValueError, match="pricey"):
        estimator.fit(TABLE, target="pricey")
    with pytest.raises(ValueError, match=r"300 rows|more than"):
        estimator.fit(TABLE.drop(columns=["price", "dear"]), TABLE[case[0]][:-1])
    with pytest.raises(TypeError, match="colour"):
        estimator.fit(TABLE, target=case[0], colour="blue")
    other = "dear" if case[0] == "price" else "price"
    with pytest.raises(ValueError, match=r"Classifier(CV)? learns classes"):
        estimator.fit(TABLE, target=other)
    assert pickle.dumps(estimator) == before


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_a_matrix_after_a_table(case):
    """What was remembered of the table is gone."""
    X, y = RNG.standard_normal((80, 3)), RNG.standard_normal(80)
    y = y if case[0] == "price" else (y > 0).astype(int)
    again = new(case).fit(TABLE, **options(case))
    if "online" in case[1]:
        again.set_params(random_state=0)
    once = clone(again)
    for one, other in zip(learned(again.fit(X, y)), learned(once.fit(X, y)), strict=True):
        assert_array_equal(one, other)
    assert not hasattr(again, "source_settings_")
    assert again.predict(X).shape == (80,)


@pytest.mark.parametrize("case", ALL, ids=", ".join)
def test_a_frame_of_numbers_with_y_apart_is_a_matrix(case):
    numbers = pd.DataFrame({"rooms": TABLE.rooms, "price": RNG.standard_normal(N)})
    y = TABLE.price if case[0] == "price" else TABLE.dear
    estimator = new(case)
    if "online" in case[1]:
        estimator.set_params(random_state=0)
    plain = clone(estimator).fit(numbers.to_numpy(), y)
    named = estimator.fit(numbers, y)
    assert_array_equal(learned(named)[0], learned(plain)[0])
    assert named.feature_names_in_.tolist() == ["rooms", "price"]
    assert not hasattr(named, "source_settings_")
    by_source = named.decision_function if case[0] == "dear" else named.predict
    assert_allclose(by_source(gs.source(numbers, need_labels=False)), by_source(numbers), rtol=1e-12)
    with pytest.raises(ValueError, match="row 0, column 'rooms'"):
        named.predict(numbers.astype(float).replace(numbers.rooms[0], np.nan))


def test_names_of_features():
    batch = gs.BatchRegressor(alpha=1e-3).fit(TABLE, target="price", ignore=["dear"])
    assert {"size", "rooms", "city=Oslo"} <= set(batch.nonzero_features_)
    assert set(batch.nonzero_features_) <= set(batch.feature_names_in_)
    assert batch.n_features_in_ == len(batch.feature_names_in_) == batch.coef_.shape[0]
    stumps = gs.BoostingRegressor(features="stumps", max_rounds=20).fit(TABLE, target="price", ignore=["dear"])
    assert "city=Oslo > 0.5" in stumps.nonzero_features_


def test_numbers_that_are_not_understood_are_told():
    odd = TABLE.assign(size=[f"{x:.0f} %" for x in TABLE.rooms])
    for kind in (gs.OnlineRegressor, gs.BatchRegressor, gs.BoostingRegressor):
        with pytest.warns(UserWarning, match=r"column 'size' holds numbers written like '\d %'.*as in 1234\.5") as told:
            model = kind(alpha=1e-3).fit(odd, target="price", ignore=["dear"])
        assert len(told) == 1
    with pytest.warns(UserWarning, match="column 'size'"):
        gs.OnlineRegressor().fit(odd.drop(columns=["price", "dear"]), odd.price)
    model.predict(odd)  # says nothing
    dated = TABLE.assign(city=[f"{i % 9 + 1:02}/{i % 7 + 1:02}/2024" for i in range(N)])
    with pytest.warns(UserWarning, match="column 'city' holds dates of which the day or the month may come first"):
        gs.OnlineRegressor().fit(dated, target="price", ignore=["dear"])


def test_what_is_no_table_is_named(tmp_path):
    model = gs.OnlineRegressor().fit(TABLE, target="price", ignore=["dear"])
    with pytest.raises(ValueError, match=r"It learned from a table, and X has no names: .* columns size, rooms, city"):
        model.predict(np.ones((2, 3)))
    for data in ({"size": [1.0]}, [{"size": 1.0}]):
        with pytest.raises(TypeError, match=r"dicts?; .*pandas\.DataFrame\(X\)"):
            gs.OnlineRegressor().fit(data, target="size")
    with pytest.raises(FileNotFoundError, match="is an address"):
        model.predict("https://example.org/flats.csv")
    for name, text, word in FOREIGN:
        (tmp_path / name).write_bytes(text)
        with pytest.raises(ValueError, match=f"{name}: this is {word}"):
            gs.OnlineRegressor().fit(tmp_path / name, target="price")


FOREIGN = [
    ("flats.xlsx", b"PK\x03\x04\x14\x00\x06\x00", "a spreadsheet"),
    ("flats.csv", b"PK\x03\x04\x14\x00\x06\x00\n,,", "a spreadsheet"),
    ("flats.json", b'[{"size": 1}]', "JSON"),
    ("flats.ndjson", b'{"size": 1, "price": 2}\n', "JSON"),
    ("page.csv", b"<!DOCTYPE html>\n<html></html>\n", "a web page"),
    ("flats.db", b"SQLite format 3\x00", "a database of SQLite"),
]


# Online


def test_one_table_is_many():
    whole = gs.OnlineRegressor(alpha=1e-3).fit(TABLE, **options(("price", "online")))
    parts = gs.OnlineRegressor(alpha=1e-3)
    for begin in range(0, N, 45):
        part = TABLE.iloc[begin : begin + 45]
        settings = options(("price", "online")) if begin == 0 else {}
        # the roles and the means are those of the first rows
        parts.partial_fit(part, **settings)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.t_ == whole.t_ == N
    named = dict(zip(parts.nonzero_features_, parts.coef_[np.flatnonzero(parts.coef_)], strict=True))
    assert {"size", "rooms", "city=Oslo"} <= set(named)


def test_exact_names_keep_their_numbers_from_table_to_table():
    """The second table has its levels in another order, and new ones."""
    first = pd.DataFrame({"city": ["Rome", "Oslo"] * 20, "y": [1.0, 2.0] * 20})
    second = pd.DataFrame({"city": ["Bonn", "Oslo"] * 20, "y": [5.0, 2.0] * 20})
    parts = gs.OnlineRegressor(alpha=0.0).partial_fit(first, target="y", one_hot=True).partial_fit(second)
    both = gs.OnlineRegressor(alpha=0.0).fit(pd.concat([first, second]), target="y", one_hot=True)
    assert parts.feature_names_in_.tolist() == both.feature_names_in_.tolist()
    whole = gs.OnlineRegressor(alpha=0.0, shuffle=False).fit(pd.concat([first, second]), target="y", one_hot=True)
    assert_array_equal(parts.coef_, whole.coef_)


def test_names_of_hashed_features_are_kept_from_table_to_table():
    first = pd.DataFrame({"city": ["Rome", "Oslo"] * 20, "y": [1.0, 2.0] * 20})
    second = pd.DataFrame({"city": ["Bonn"] * 40, "y": [5.0] * 40})
    model = gs.OnlineRegressor(alpha=0.0).partial_fit(first, target="y").partial_fit(second)
    assert set(model.nonzero_features_) == {"city=Rome", "city=Oslo", "city=Bonn"}
    path = gs.OnlineRegressorCV(alphas=[1.0, 1e-4]).partial_fit(first, target="y").partial_fit(second)
    assert set(path.at(path.alphas_[-1]).nonzero_features_) == {"city=Rome", "city=Oslo", "city=Bonn"}


def test_fit_source_is_fit(forms):
    for case in ALL[:3]:
        one, other = new(case).fit_source(TABLE, **options(case)), new(case).fit(TABLE, **options(case))
        assert_array_equal(one.coef_, other.coef_)


def test_progress_is_shown(capsys):
    gs.OnlineRegressor(max_passes=3, verbose=1).fit_source(TABLE, target="price", ignore=["dear"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["pass 1", "pass 2", "pass 3"]
    quiet = gs.OnlineRegressor(max_passes=3).fit(TABLE, target="price", ignore=["dear"])
    loud = gs.OnlineRegressor(max_passes=3, verbose=1).fit(TABLE, target="price", ignore=["dear"])
    assert_array_equal(quiet.coef_, loud.coef_)


def test_a_hundred_thousand_numbers_are_no_classes():
    many = pd.DataFrame({"x": np.arange(100_000) % 7, "y": np.random.default_rng(0).random(100_000)})
    for make in (gs.OnlineClassifier, gs.OnlineClassifierCV, gs.BatchClassifier, gs.BoostingClassifier):
        name = make.__name__.replace("Classifier", "Regressor").removesuffix("CV")
        with pytest.raises(ValueError, match=f"{name}.* learns numbers"):
            make().fit(many, target="y")


def test_words_that_do_not_fit():
    X = np.ones((4, 2))
    with pytest.raises(TypeError, match="target='price'"):
        gs.BatchRegressor().fit(TABLE, "price")
    with pytest.raises(TypeError, match="use one"):
        gs.BatchRegressor().fit(TABLE, TABLE.price, target="price")
    for estimator in (gs.OnlineRegressor(), gs.BatchRegressor(), gs.BoostingRegressor()):
        with pytest.raises(TypeError, match="sample_weights=; such options are for files and tables"):
            estimator.fit(X, X[:, 0], sample_weights=X[:, 0])
    with pytest.raises(ValueError, match="one target per row"):
        gs.OnlineRegressor().fit(TABLE, np.ones((N, 2)))


def test_weights_of_rows():
    weight = RNG.integers(0, 3, N).astype(float)
    for case in ALL:
        inside = new(case).fit(TABLE.assign(w=weight), weight="w", **options(case))
        apart = new(case).fit(TABLE, sample_weight=weight, **options(case))
        assert_array_equal(learned(inside)[0], learned(apart)[0])
    with pytest.raises(ValueError, match="use one"):
        gs.OnlineRegressor().fit(TABLE.assign(w=weight), target="price", weight="w", sample_weight=weight)


def test_validation_of_boosting_is_a_table_too():
    train, rest = TABLE[:200], TABLE[200:]
    fitted = gs.BoostingClassifier(alpha=1e-2).fit(train, target="dear", ignore=["price"], validation=rest)
    assert fitted.history_[-1].validation_score == fitted.score(rest)
    apart = train.drop(columns=["price", "dear"]), rest.drop(columns=["price", "dear"])
    again = gs.BoostingClassifier(alpha=1e-2).fit(apart[0], train.dear, validation=(apart[1], rest.dear))
    assert again.history_[-1].validation_loss == fitted.history_[-1].validation_loss


@pytest.mark.parametrize("library", [pd, pl], ids=lambda library: library.__name__)
def test_a_raw_file_by_a_library_is_the_file(library, tmp_path):
    # A word for missing values that the library does not know makes strings of all numbers of the column.
    rows = [
        f"{x},{'?' if x % 7 == 0 else x * x % 11},{'-' if x % 5 == 0 else x / 8},c{x % 4},{x % 9}\n" for x in range(200)
    ]
    (tmp_path / "raw.csv").write_text("y,whole,real,code,other\n" + "".join(rows), encoding="utf-8")
    frame = library.read_csv(tmp_path / "raw.csv")
    fitted = [gs.BatchRegressor(alpha=0.1).fit(data, target="y") for data in (frame, tmp_path / "raw.csv")]
    for one, other in zip(*map(learned, fitted), strict=True):
        assert_array_equal(one, other)
    assert {"whole", "real"} <= set(fitted[0].feature_names_in_)


def test_strings_that_are_all_numbers_are_categories():
    frame = pd.DataFrame({"code": ["8001", "8002", "4057"] * 20, "y": [1.0, 2.0, 4.5] * 20})
    assert set(gs.BatchRegressor(alpha=0.01).fit(frame, target="y").nonzero_features_) <= {
        "code=8001",
        "code=8002",
        "code=4057",
    }


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")  # DuckDB says that a relation is cheaper
def test_a_query_that_a_connection_has_executed_is_a_table():
    connection = pytest.importorskip("duckdb").connect()
    query = connection.execute("select a::double as a, 'c' || a % 3 as c, 2.0 * a as y from range(100) t(a)")
    fitted = gs.OnlineRegressor().fit(query, target="y")
    assert "a" in fitted.nonzero_features_
    assert fitted.predict(connection.execute("select 1.0::double as a, 'c1' as c")).shape == (1,)
