// Takes the place of the theme's 1.5 MB icon script: book.css draws the few icons that the pages use.
