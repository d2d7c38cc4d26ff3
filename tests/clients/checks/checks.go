package main

import (
	"fmt"
	"reflect"
)

// check runs one check and tells it as `ok` or `not ok`; a panic is a failure as well.
func check(title string, run func()) {
	defer func() {
		if wrong := recover(); wrong != nil {
			fmt.Printf("not ok %s\n%v\n", title, wrong)
			return
		}
		fmt.Println("ok " + title)
	}()
	run()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func equal(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("%#v is not %#v", found, expected))
	}
}
