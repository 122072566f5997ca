"""The report: a record of what a page tells, rendered as one HTML file that anyone can open.

``_page_record`` is the record, ``_page`` the page, ``_html`` its tables, ``_summary_text`` and
``_comparison_text`` its sentences, ``assets/`` its looks and scripts. Nothing is computed here.
"""
