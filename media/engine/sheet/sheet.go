// Package sheet is the engine for workbooks (xlsx, xlsm) and tables (csv, tsv).
//
// A workbook is changed as a surgeon would: the bytes of the cells that change are replaced where they stand, and every
// part of the file that the change does not concern is the same bytes as before. What refers to moved or renamed cells
// follows: formulas, names, charts, pivot sources, conditions, validations, links, tables, comments, drawings. What cannot
// follow is reported. Computed values that may be out of date are taken away, and programs compute them on opening.
//
// Reading streams the parts. Formulas without a stored value are shown as formulas, unless there is a [Calculator].
package sheet

import (
	"context"

	"github.com/tackle-dev/tackle/media"
)

const (
	xlsxMIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	xlsmMIME = "application/vnd.ms-excel.sheet.macroenabled.12"
	csvMIME  = "text/csv"
	tsvMIME  = "text/tab-separated-values"
	jsonMIME = "application/json"
)

var bookOps = map[string]func(*book) error{
	"sheet.add_rows": addRows, "sheet.add_columns": addColumns, "sheet.update_cells": updateCells,
	"sheet.delete_rows": deleteLines(false), "sheet.delete_columns": deleteLines(true),
	"sheet.rename_sheet": renameSheet, "sheet.add_sheet": addSheet, "sheet.remove_sheet": removeSheet,
	"sheet.reorder_sheets": reorderSheets, "sheet.transform_table": transform,
}

type engine struct{ calc Calculator }

func (e *engine) open(r *media.Request) (*book, error) {
	b, err := openBook(r)
	if err == nil {
		b.calc = e.calc
	}
	return b, err
}

// Engine returns the engine. It stands before the engine for text, because it knows tables better.
func Engine() media.Engine { return EngineWith(nil) }

// EngineWith returns the engine with a calculator for formulas without a stored value.
func EngineWith(calc Calculator) media.Engine {
	e := &engine{calc}
	books := []string{xlsxMIME, xlsmMIME}
	var all []string
	for op := range bookOps {
		all = append(all, op)
	}
	return media.Engine{
		ID: "sheet",
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"xlsx"}, Keep: media.Exact, Do: blankBook},
			{From: []string{csvMIME, tsvMIME, jsonMIME}, To: []string{"xlsx"}, Keep: media.Structure, Do: toBook},
			{From: books, To: []string{"csv", "json", "md", "html", "txt"}, Keep: media.Structure, Do: e.convertBook},
			{From: []string{csvMIME, tsvMIME}, To: []string{"md", "html"}, Keep: media.Structure, Do: csvMarkup},
		},
		Edit: []media.Edit{
			{Over: books, Ops: all, Do: edit},
			{Over: []string{csvMIME, tsvMIME}, Ops: []string{"sheet.add_rows", "sheet.add_columns", "sheet.update_cells", "sheet.delete_rows", "sheet.delete_columns", "sheet.transform_table"}, Do: editCSV},
			{Over: books, Ops: []string{"redact"}, Do: redact},
			{Over: books, Ops: []string{"sanitize"}, Do: sanitize},
			{Over: books, Ops: []string{"normalize"}, Do: normalize},
			{Over: books, Ops: []string{"split"}, Do: e.splitBook},
			{Over: books, Ops: []string{"diff"}, Do: e.diffBooks},
			{Over: books, Ops: []string{"extract.metadata"}, Do: describeBook},
			{Over: books, Ops: []string{"extract.assets"}, Do: assetsOf},
		},
	}
}

func edit(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	if err := bookOps[r.Op](b); err != nil {
		return media.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return media.Result{}, err
	}
	return b.done()
}
