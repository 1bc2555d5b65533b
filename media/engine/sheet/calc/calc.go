// Package calc computes formulas of workbooks with the library excelize, for programs that want values where a workbook
// holds none:
//
//	engines := []media.Engine{sheet.EngineWith(calc.Excelize)}
//
// It stands apart because that library costs every start of a program that links it some milliseconds.
package calc

import (
	"bytes"
	"fmt"

	"github.com/xuri/excelize/v2"

	"github.com/tackle-dev/tackle/media"
)

// Excelize is a sheet.Calculator.
func Excelize(workbook []byte, lim media.Limits) (func(sheet, cell string) (string, bool), error) {
	f, err := excelize.OpenReader(bytes.NewReader(workbook), excelize.Options{UnzipSizeLimit: lim.Unpacked, UnzipXMLSizeLimit: lim.Unpacked})
	if err != nil {
		return nil, fmt.Errorf("open the workbook to compute its formulas: %w", err)
	}
	return func(sheet, cell string) (string, bool) {
		v, err := f.CalcCellValue(sheet, cell, excelize.Options{RawCellValue: true})
		return v, err == nil || v != ""
	}, nil
}
